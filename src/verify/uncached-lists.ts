import type { INestApplicationContext } from '@nestjs/common';
import { ListReader } from '../list/list-reader.js';
import { filteredLists } from './filtered-lists.js';

/**
 * The filters whose lists have no ETag and are not cached, as lines with the filter's dependencies.
 * Each filter is checked with its example. A filter that has dependencies only for some values may be
 * missing here; the service decides for each statement.
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
