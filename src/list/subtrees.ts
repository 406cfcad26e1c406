import {
  FindOperator,
  getMetadataArgsStorage,
  type ObjectLiteral,
  type ObjectType,
  Raw,
} from 'typeorm';

/** The table of a resource whose objects refer to their parents in it. Names are not quoted. */
export interface Tree {
  readonly table: string;
  readonly identifier: string;
  /** The column that refers to the parent. */
  readonly parent: string;
}

/** Objects of a tree, and all objects below them. */
export interface Subtrees {
  readonly tree: Tree;
  /** Identifiers. */
  readonly roots: readonly string[];
}

const SUBTREES = new WeakMap<FindOperator<string>, Subtrees>();
let parameters = 0;

/**
 * A condition on a column that refers to a resource, or on the identifier of that resource: it is one of
 * some objects, or an object below one of them, at any depth.
 *
 * @param entity refers to itself with an `@ForeignKey`
 * @throws TypeError if it does not
 */
export function within<Entity>(
  entity: ObjectType<Entity>,
  roots: readonly string[],
): FindOperator<string> {
  const tree = treeOf(entity);
  // Conditions of one statement share the names of parameters.
  const name = `roots${++parameters}`;
  const condition = Raw((column) => `${column} IN (${subtreeQuery(tree, `:${name}`)})`, {
    [name]: roots,
  }) as FindOperator<string>;
  SUBTREES.set(condition, { tree, roots });
  return condition;
}

/** What a condition of `within` says; `undefined` for any other condition. */
export function subtreesOf(condition: unknown): Subtrees | undefined {
  return condition instanceof FindOperator
    ? SUBTREES.get(condition as FindOperator<string>)
    : undefined;
}

/** What the conditions of `within` among others say. */
export function subtreesIn(conditions: readonly ObjectLiteral[]): Subtrees[] {
  return conditions
    .flatMap((condition) => Object.values(condition) as unknown[])
    .flatMap((condition) => subtreesOf(condition) ?? []);
}

/**
 * Replaces the conditions of `within` by others.
 *
 * @param replacements in the order of `subtreesIn`
 */
export function replaceSubtrees(
  conditions: readonly ObjectLiteral[],
  replacements: readonly unknown[],
): ObjectLiteral[] {
  const left = [...replacements];
  return conditions.map((condition) => {
    const replaced: ObjectLiteral = {};
    for (const [column, value] of Object.entries(condition) as [string, unknown][]) {
      replaced[column] = subtreesOf(value) ? left.shift() : value;
    }
    return replaced;
  });
}

/**
 * A query for the identifiers of objects and of all objects below them. `UNION` ends it also in a cycle.
 *
 * @param roots an SQL expression of type `text[]`
 */
export function subtreeQuery({ table, identifier, parent }: Tree, roots: string): string {
  return `WITH RECURSIVE subtree(id) AS (
    SELECT "${identifier}" FROM "${table}" WHERE "${identifier}" = ANY(CAST(${roots} AS text[]))
    UNION
    SELECT child."${identifier}" FROM "${table}" child JOIN subtree ON child."${parent}" = subtree.id
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
  const table = storage.tables.find(({ target }) => target === entity)?.name;
  const identifier = storage.filterColumns(entity).find(({ options }) => options.primary);
  const parent = storage
    .filterForeignKeys(entity)
    .find(({ type }) => typeof type === 'function' && (type as () => unknown)() === entity);
  if (table === undefined || !identifier || parent?.propertyName === undefined) {
    throw new TypeError(`${entity.name} has no @ForeignKey to itself, so it is not a tree`);
  }
  return { table, identifier: identifier.propertyName, parent: parent.propertyName };
}
