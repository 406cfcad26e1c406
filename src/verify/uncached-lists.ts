import type { INestApplicationContext } from '@nestjs/common';
import type { Condition } from '../list/condition/condition.js';
import { ListReader } from '../list/reading/list-reader.js';
import { Listing } from '../list/listing/listing.js';
import { capabilitiesOf } from '../resource/capabilities.js';
import { fieldsOf, identifierOf, nameOf } from '../resource/resource.js';
import { filteredLists } from './filtered-lists.js';

/** Asks for lists of resources with a scope. */
const ANY_CLIENT = { clientID: 'verify' };

/**
 * The filters and computed fields whose lists have no ETag and are not cached, as lines with what these depend on. A
 * filter is checked with its example, although it may have dependencies for other values only.
 */
export async function uncachedLists(application: INestApplicationContext): Promise<string[]> {
  const lists = application.get(ListReader);
  const found = new Set<string>();
  for (const { metadata, parameter, listing } of await filteredLists(application)) {
    // No list of a table of others has an ETag, unless it is tracked.
    if (!capabilitiesOf(metadata).version) continue;
    const report = async (
      what: string,
      fields: readonly string[],
      conditions: readonly Condition[],
    ) => {
      const { repository, query, resources } = listing;
      const part = new Listing(repository, { ...query, fields }, conditions, resources);
      const dependencies = await lists.prepare(part, ANY_CLIENT).dependencies?.();
      if (!dependencies?.length) return;
      found.add(
        `lists of ${nameOf(metadata)} with the ${what} are not cached and have no ETag, ` +
          `since it depends on ${dependencies.join(', ')}`,
      );
    };
    const computed = fieldsOf(metadata).filter(({ isVirtualProperty }) => isVirtualProperty);
    for (const { propertyName } of computed) {
      await report(`field ${propertyName}`, [propertyName], []);
    }
    if (parameter === 'sort') continue;
    const { propertyName: identifier } = identifierOf(metadata);
    await report(`filter ${parameter}`, [identifier], listing.conditions);
  }
  return [...found];
}
