import { getMetadataArgsStorage, type ObjectType } from 'typeorm';
import { isTextIdentifier } from '../../resource/identifiers.js';
import { primaryColumnOf, resourceName, tableOfEntity } from '../../resource/resource.js';
import { type Written, written } from './from-typeorm.js';
import type { IdentifierQuery } from './identifier-query.js';

/** A resource whose objects refer to their parents in it. Names of columns are not quoted. */
interface Tree {
  readonly resource: string;
  /** In SQL. */
  readonly table: string;
  readonly identifier: string;
  /** The SQL type of identifiers. */
  readonly type: string;
  /** The column that refers to the parent. */
  readonly parent: string;
}

/**
 * A condition on a column that refers to a resource, or on the identifier of that resource: it is one of
 * some objects, or an object below one of them, at any depth.
 *
 * @param entity refers to itself with an `@ForeignKey`
 * @param roots identifiers
 * @throws TypeError if it does not
 */
export function within<Entity>(
  entity: ObjectType<Entity>,
  roots: readonly (string | number)[],
): Written {
  const tree = treeOf(entity);
  const query: IdentifierQuery = {
    resource: tree.resource,
    entity,
    columns: [tree.parent],
    text: ([expression = ''], visible) => subtreeQuery(tree, expression, visible),
    values: [roots],
  };
  return written('within', (column) => ({ kind: 'identifiers', column, query }));
}

/**
 * A query for the identifiers of objects and of all objects below them. `UNION` ends it also in a cycle.
 *
 * @param roots an SQL expression for an array of identifiers
 * @param visible the end of a WHERE clause for a table
 */
function subtreeQuery(
  { table, identifier, type, parent }: Tree,
  roots: string,
  visible: (table: string) => string,
): string {
  return `WITH RECURSIVE subtree(id) AS (
    SELECT root."${identifier}" FROM ${table} root
    WHERE root."${identifier}" = ANY(CAST(${roots} AS ${type}[]))${visible('root')}
    UNION
    SELECT child."${identifier}" FROM ${table} child
    JOIN subtree ON child."${parent}" = subtree.id${visible('child')}
  ) SELECT id FROM subtree`;
}

const TREES = new WeakMap<ObjectType<unknown>, Tree>();

function treeOf<Entity>(entity: ObjectType<Entity>): Tree {
  let tree = TREES.get(entity);
  if (!tree) TREES.set(entity, (tree = findTree(entity)));
  return tree;
}

function findTree<Entity>(entity: ObjectType<Entity>): Tree {
  const storage = getMetadataArgsStorage();
  const table = tableOfEntity(entity);
  const identifier = primaryColumnOf(entity);
  const parent = storage
    .filterForeignKeys(entity)
    .find(({ type }) => typeof type === 'function' && (type as () => unknown)() === entity);
  if (table === undefined || !identifier || parent?.propertyName === undefined) {
    throw new TypeError(`${entity.name} has no @ForeignKey to itself, so it is not a tree`);
  }
  const { type } = identifier.options;
  return {
    resource: resourceName(entity),
    table,
    identifier: identifier.propertyName,
    type: isTextIdentifier(type) ? 'text' : String(type),
    parent: parent.propertyName,
  };
}
