import type { DataSource, EntityMetadata } from 'typeorm';
import { hasOwnTable } from './own-table.js';
import { isResource, nameOf } from './resource.js';
import { takenBy } from './reserved-names.js';

/** What is wrong with the names of resources, and with which entities have them, as lines. */
export function* nameProblems({ entityMetadatas }: DataSource): Generator<string> {
  const resources = entityMetadatas.filter(isResource);
  for (const metadata of resources) {
    const resource = nameOf(metadata);
    const taken = takenBy(resource);
    if (taken !== undefined) yield `The resource ${resource} of ${metadata.name} ${taken}`;
    else if (!/^[a-z][a-z0-9_]*$/.test(resource))
      yield `The resource ${JSON.stringify(resource)} of ${metadata.name} must begin with a letter from a to z and have no other characters than these, digits and _`;
  }
  for (const metadata of resources)
    if (hasOwnTable(metadata) && metadata.tableName !== nameOf(metadata))
      yield `${metadata.name} is declared as the table ${metadata.tableName} and as another resource: it needs one @Resource and no @Entity, also if it extends a resource`;
  yield* sharedBy(resources, nameOf, 'the resource');
  yield* sharedBy(
    entityMetadatas.filter((metadata) => !isResource(metadata) || hasOwnTable(metadata)),
    ({ tableName }) => tableName,
    'the table',
  );
}

/** The entities that have a name in common, if one of them is a resource. */
function* sharedBy(
  entities: readonly EntityMetadata[],
  nameFor: (metadata: EntityMetadata) => string,
  what: string,
): Generator<string> {
  for (const name of new Set(entities.map(nameFor))) {
    const sharing = entities.filter((each) => nameFor(each) === name);
    const targets = new Set(sharing.map(({ target }) => target));
    if (targets.size > 1 && sharing.some(isResource))
      yield `${sharing.map((each) => each.name).join(' and ')} are both ${what} ${name}`;
  }
}
