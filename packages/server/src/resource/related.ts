import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { type Children, declaredChildren } from './children.js';

/** An object of a resource that a column of another one refers to; or the objects that refer to one. */
export interface Related {
  /** The name of the object: `brand` for the column `brandID`; that of the resource of several objects. */
  readonly name: string;
  /** The column that refers. */
  readonly column: ColumnMetadata;
  /** The resource of the object, or of the objects. */
  readonly metadata: EntityMetadata;
  /** Present if these are objects that refer to one. Then the column is theirs. */
  readonly children?: Children;
}

/** Every list asks for them. */
const RELATED = new WeakMap<EntityMetadata, readonly Related[]>();

/** The objects that the columns of a resource refer to, in the order of the columns, and the children that it includes. */
export function relatedOf(metadata: EntityMetadata): readonly Related[] {
  const known = RELATED.get(metadata);
  if (known) return known;
  const parents = metadata.columns.flatMap((column) => {
    const key = metadata.foreignKeys.find(({ columns }) => columns.includes(column));
    const name = relatedName(column.propertyName);
    if (!key || name === undefined) return [];
    return { name, column, metadata: key.referencedEntityMetadata };
  });
  const children = [...declaredChildren(metadata)].map(([name, each]): Related => {
    const child = metadata.dataSource.getMetadata(each.entity);
    return { name, column: referringColumn(child, metadata), metadata: child, children: each };
  });
  const related = [...parents, ...children];
  RELATED.set(metadata, related);
  return related;
}

/** The name of the object that a column refers to: without `ID`; `undefined` if it does not end so. */
export function relatedName(column: string): string | undefined {
  return /^(.+?)(?:ID|Id|_id)$/.exec(column)?.[1];
}

/**
 * The column of children that refers to their parent with `@ForeignKey`.
 *
 * @throws TypeError unless there is exactly one
 */
export function referringColumn(child: EntityMetadata, parent: EntityMetadata): ColumnMetadata {
  const keys = child.foreignKeys.filter((key) => key.referencedEntityMetadata === parent);
  const [column] = keys[0]?.columns ?? [];
  if (column && keys.length === 1) return column;
  throw new TypeError(
    `${child.name} needs exactly one @ForeignKey to ${parent.name} to be its children, and has ${keys.length}`,
  );
}
