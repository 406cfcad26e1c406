import { type EntityMetadata, getMetadataArgsStorage, type ObjectType } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

/** An object of a resource that a column of another one refers to. */
export interface Related {
  /** The name of the object: `brand` for the column `brandID`. */
  readonly name: string;
  /** The column that refers to it. */
  readonly column: ColumnMetadata;
  /** The resource that it belongs to. */
  readonly metadata: EntityMetadata;
}

/** Every list asks for them. */
const RELATED = new WeakMap<EntityMetadata, readonly Related[]>();

/** The objects that the columns of a resource refer to, in the order of the columns. */
export function relatedOf(metadata: EntityMetadata): readonly Related[] {
  const known = RELATED.get(metadata);
  if (known) return known;
  const related = metadata.columns.flatMap((column) => {
    const key = metadata.foreignKeys.find(({ columns }) => columns.includes(column));
    const name = relatedName(column.propertyName);
    if (!key || name === undefined) return [];
    return { name, column, metadata: key.referencedEntityMetadata };
  });
  RELATED.set(metadata, related);
  return related;
}

/** The name of the object that a column refers to: without `ID`; `undefined` if it does not end so. */
export function relatedName(column: string): string | undefined {
  return /^(.+?)(?:ID|Id|_id)$/.exec(column)?.[1];
}

/**
 * The entity that a column refers to with `@ForeignKey`.
 *
 * @throws TypeError if it refers to none
 */
export function relatedEntity(entity: ObjectType<unknown>, column: string): ObjectType<unknown> {
  const key = getMetadataArgsStorage()
    .filterForeignKeys(entity)
    .find(({ propertyName }) => propertyName === column);
  if (typeof key?.type !== 'function') {
    throw new TypeError(`${entity.name}.${column} has no @ForeignKey`);
  }
  return (key.type as () => ObjectType<unknown>)();
}
