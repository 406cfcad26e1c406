import { Command } from 'commander';
import { DataSource } from 'typeorm';
import { rebuildSearch } from '../schema/search-language.js';
import { Settings } from '../settings/settings.js';
import { withCatalogue } from './open-catalogue.js';

export function searchCommand(): Command {
  const search = new Command('search').description('manage the search for words');
  search
    .command('rebuild')
    .description('compute the words of all objects again, in the language of SEARCH_LANGUAGE')
    .action(() =>
      withCatalogue(async (catalogue) => {
        const { searchLanguage } = catalogue.get(Settings);
        const resources = await rebuildSearch(catalogue.get(DataSource), searchLanguage);
        console.log(
          `Searches are in the language ${searchLanguage}. Rebuilt: ${resources.join(', ')}`,
        );
      }),
    );
  return search;
}
