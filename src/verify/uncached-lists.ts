import type { INestApplicationContext } from '@nestjs/common';
import { ListReader } from '../list/list-reader.js';
import { filteredLists } from './filtered-lists.js';

/**
 * The filters of all lists with which a list has no tag and is never kept, a line each with what the
 * filter reads. Each filter is looked at with its example, so one that reads more only for some
 * values may be missing here; the service decides for each statement that it sends.
 */
export async function uncachedLists(application: INestApplicationContext): Promise<string[]> {
  const lists = application.get(ListReader);
  const found: string[] = [];
  for (const { metadata, parameter, listing } of await filteredLists(application)) {
    if (parameter === 'sort') continue;
    const dependencies = await lists.prepare(listing).dependencies();
    if (dependencies.length === 0) continue;
    found.push(
      `lists of ${metadata.tableName} with the filter ${parameter} are not cached and have no ETag, ` +
        `since it depends on ${dependencies.join(', ')}`,
    );
  }
  return found;
}
