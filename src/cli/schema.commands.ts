import { Command } from 'commander';
import { migrate } from '../database/migrate.js';
import { findings } from '../verify/verify.js';
import { uncachedLists } from '../verify/uncached-lists.js';
import { CommandError } from '../command-error.js';
import { Settings } from '../settings/settings.js';
import { stopSignal } from './stop-signal.js';
import { writeMigration } from './write-migration.js';
import { openDatabase, withCatalogue } from './open-catalogue.js';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('brings the schema up to date; several may start at once')
    .action(async () => {
      const { url, embedded } = await openDatabase(new Settings(process.env));
      try {
        const names = await migrate(url, { signal: stopSignal() });
        for (const name of names) console.log(name);
        console.log(`The schema is up to date: ${names.length} migrations taken`);
      } finally {
        await embedded?.release();
      }
    });
}

export function migrationCommand(): Command {
  return new Command('migration')
    .description('writes the migration that makes the tables what the entities say')
    .argument('<name>', 'such as add-supplier-phone')
    .option('--destructive', 'also where it loses what columns or tables hold')
    .action(async (name: string, { destructive = false }: { destructive?: boolean }) => {
      const { url, embedded } = await openDatabase(new Settings(process.env));
      try {
        const file = await writeMigration(url, name, destructive);
        console.log(file ?? 'There is nothing to write: the tables are what the entities say');
      } finally {
        await embedded?.release();
      }
    });
}

export function verifyCommand(): Command {
  return new Command('verify')
    .description('checks the database against its own invariants')
    .action(() =>
      withCatalogue(async (catalogue) => {
        const found = await findings(catalogue);
        for (const finding of found) console.log(finding);
        // Allowed: they do not change the exit status. They cannot be found where a column is missing.
        for (const line of await uncachedLists(catalogue).catch(() => []))
          console.log(`Note: ${line}`);
        if (found.length > 0)
          throw new CommandError(
            `${found.length} ${found.length === 1 ? 'thing is' : 'things are'} off`,
          );
        console.log('Nothing is off');
      }),
    );
}
