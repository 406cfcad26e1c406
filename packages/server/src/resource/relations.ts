import {
  type EntityManager,
  type EntityMetadata,
  getMetadataArgsStorage,
  type ObjectType,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { identifierOf, resourceName, tableOf } from './resource.js';

/** The entity that a column refers to with `@ForeignKey`. @throws TypeError if it refers to none */
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

/** The objects of another resource that refer to an object, such as the variants of a product. */
export interface Children {
  readonly entity: ObjectType<unknown>;
  /** Most objects that are shown. */
  readonly limit: number;
  /** The field by which they are sorted, with `-` before it for descending. Default: the identifier. */
  readonly sort: string | undefined;
}

/** Most children that `include` may show of one object. A page of 1000 objects then has 100,000 of them. */
const MAXIMUM_CHILDREN = 100;

/** The children that lists of an entity may include, by name. */
const CHILDREN = new WeakMap<EntityMetadata['target'] & object, Map<string, Children>>();

/**
 * The objects of another resource that refer to each object with an `@ForeignKey`, for `include` of `@QueryOf`. They are
 * called as their resource is, such as `variants`, and the number of all of them is `variantsCount`.
 *
 * @throws RangeError for a `limit` that is not between 1 and 100
 */
export function children<Entity>(
  entity: ObjectType<Entity>,
  {
    limit = 20,
    sort,
  }: {
    /** Most objects that are shown. Default: 20. */
    readonly limit?: number;
    /** The field by which they are sorted, with `-` before it for descending. Default: the identifier. */
    readonly sort?: (keyof Entity & string) | `-${keyof Entity & string}`;
  } = {},
): Children {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAXIMUM_CHILDREN) {
    throw new RangeError(
      `children(${entity.name}) needs a limit of 1 to ${MAXIMUM_CHILDREN}, not ${limit}`,
    );
  }
  return { entity, limit, sort };
}

/**
 * Lets lists of an entity include children. Returns their name.
 *
 * @throws TypeError if not exactly one column of them refers to the entity, or if another query class declares them in
 * another way
 */
export function declareChildren(entity: ObjectType<unknown>, included: Children): string {
  const { entity: child, limit, sort } = included;
  const columns = [...references(child)].filter(([, target]) => target === entity);
  if (columns.length !== 1) {
    throw new TypeError(
      `${child.name} needs exactly one @ForeignKey to ${entity.name} to be its children, and has ${columns.length}`,
    );
  }
  const name = resourceName(child);
  const known = CHILDREN.get(entity) ?? new Map<string, Children>();
  const before = known.get(name);
  if (before && (before.limit !== limit || before.sort !== sort)) {
    throw new TypeError(`The children ${name} of ${entity.name} are declared in two ways`);
  }
  CHILDREN.set(entity, known.set(name, included));
  return name;
}

/** The children that lists of an entity may include, by name. */
export function declaredChildren({
  target,
}: Pick<EntityMetadata, 'target'>): ReadonlyMap<string, Children> {
  const known = typeof target === 'function' ? CHILDREN.get(target) : undefined;
  return known ?? new Map<string, Children>();
}

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

/** The column that refers to the parent in the same resource; `undefined` if there is none. */
export function parentColumnOf(metadata: EntityMetadata): string | undefined {
  const own = metadata.foreignKeys.find(
    ({ referencedEntityMetadata }) => referencedEntityMetadata === metadata,
  );
  return own?.columns[0]?.databaseName;
}

/** The identifiers of objects in or below a cycle, which no root reaches; at most 20. */
export async function findCycle(
  manager: EntityManager,
  metadata: EntityMetadata,
): Promise<string[]> {
  const parent = parentColumnOf(metadata);
  if (parent === undefined) return [];
  const table = tableOf(metadata);
  const identifier = `"${identifierOf(metadata).databaseName}"`;
  const rows = await manager.query<{ identifier: string }[]>(
    `WITH RECURSIVE reached AS (
       SELECT ${identifier} FROM ${table} WHERE "${parent}" IS NULL
       UNION ALL
       SELECT object.${identifier} FROM ${table} object
       JOIN reached ON object."${parent}" = reached.${identifier}
     )
     SELECT ${identifier} AS identifier FROM ${table}
     EXCEPT ALL SELECT ${identifier} FROM reached ORDER BY 1 LIMIT 20`,
  );
  return rows.map((row) => row.identifier);
}
