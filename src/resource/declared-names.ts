import type { DataSource, EntityMetadata } from 'typeorm';
import { capabilitiesOf } from './capabilities.js';
import { isResource, nameOf } from './resource.js';
import { takenBy } from './reserved-names.js';

/** What is wrong with the names of resources, and with which entities have them, as lines. */
export function nameProblems({ entityMetadatas }: DataSource): string[] {
  const resources = entityMetadatas.filter(isResource);
  return [
    ...resources.flatMap((metadata) => {
      const resource = nameOf(metadata);
      const taken = takenBy(resource);
      if (taken !== undefined) return [`The resource ${resource} of ${metadata.name} ${taken}`];
      return /^[a-z][a-z0-9_]*$/.test(resource)
        ? []
        : [
            `The resource ${JSON.stringify(resource)} of ${metadata.name} must begin with a letter from a to z and have no other characters than these, digits and _`,
          ];
    }),
    ...resources
      .filter(
        (metadata) => capabilitiesOf(metadata).written && metadata.tableName !== nameOf(metadata),
      )
      .map(
        ({ name, tableName }) =>
          `${name} is declared as the table ${tableName} and as another resource: it needs one @Resource and no @Entity, also if it extends a resource`,
      ),
    ...sharedBy(resources, nameOf, 'the resource'),
    ...sharedBy(
      entityMetadatas.filter(
        (metadata) => !isResource(metadata) || capabilitiesOf(metadata).written,
      ),
      ({ tableName }) => tableName,
      'the table',
    ),
  ];
}

/** The entities that have a name in common, if one of them is a resource. */
function sharedBy(
  entities: readonly EntityMetadata[],
  nameFor: (metadata: EntityMetadata) => string,
  what: string,
): string[] {
  const all = new Map<string, EntityMetadata[]>();
  for (const metadata of entities) {
    const name = nameFor(metadata);
    all.set(name, [...(all.get(name) ?? []), metadata]);
  }
  return [...all].flatMap(([name, sharing]) =>
    new Set(sharing.map(({ target }) => target)).size > 1 && sharing.some(isResource)
      ? [`${sharing.map((each) => each.name).join(' and ')} are both ${what} ${name}`]
      : [],
  );
}
