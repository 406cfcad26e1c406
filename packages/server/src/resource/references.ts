import { getMetadataArgsStorage, type ObjectType } from 'typeorm';

/**
 * The entity that a column refers to with `@ForeignKey`.
 *
 * @throws TypeError if it refers to none
 */
export function relatedEntity(entity: ObjectType<unknown>, column: string): ObjectType<unknown> {
  const target = references(entity).get(column);
  if (!target) throw new TypeError(`${entity.name}.${column} has no @ForeignKey`);
  return target;
}

/** The columns of an entity that refer to a tree: to an entity that refers to itself. */
export function treeReferences(entity: ObjectType<unknown>): string[] {
  return [...references(entity)]
    .filter(([, target]) => [...references(target).values()].includes(target))
    .map(([column]) => column);
}

/** The entities that the columns of an entity refer to with `@ForeignKey`. */
export function references(entity: ObjectType<unknown>): Map<string, ObjectType<unknown>> {
  const keys = getMetadataArgsStorage().filterForeignKeys(entity);
  return new Map(
    keys.flatMap(({ propertyName, type }) =>
      propertyName !== undefined && typeof type === 'function'
        ? [[propertyName, (type as () => ObjectType<unknown>)()]]
        : [],
    ),
  );
}
