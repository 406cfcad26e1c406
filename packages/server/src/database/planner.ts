/** What PostgreSQL's planner is told by the form of a statement, and costs that it cannot know. */

/**
 * Ends a subquery that stays one. Without it, PostgreSQL merges the subquery into the statement: it may join the whole
 * table in place of looking up each object, and evaluates an expression again wherever its name stands.
 */
export const FENCE = 'OFFSET 0';

/**
 * No limit, which the planner does not know of. It assumes that a tenth of the rows is read. Without a limit it expects that
 * all are read: in a table that was written since VACUUM, it sorts them in place of reading an index in the order of the
 * list.
 */
export const NO_LIMIT = '(SELECT NULL::bigint)';

/**
 * A value that the planner does not look at: one plan is as good as another for any value. Without it, PostgreSQL compares
 * a plan for the values, which seems cheaper, and plans the statement each time.
 */
export function anyValue(sql: string): string {
  return `(SELECT ${sql})`;
}

/** A condition by which no index finds objects. Without it, PostgreSQL may read another index and sort what it finds. */
export function unindexed(condition: string): string {
  return `(${condition}) IS TRUE`;
}

/**
 * A column as a text that no index has. Without it, PostgreSQL may read all objects with a value in the index of the column,
 * in place of the few in a range of another index.
 */
export function unindexedText(reference: string): string {
  return `(${reference}::text || '')`;
}

/** An equality by which no index finds objects, but which an index that carries the column checks. */
export function unindexedEquality(reference: string, value: string): string {
  return `${reference} IS NOT DISTINCT FROM ${value}`;
}

/**
 * The condition that a column is between bounds, the upper one not below any value. PostgreSQL expects 1 of 200 rows. Without
 * the upper bound it expects a third of the table, at whose cost it may sort in place of reading an index.
 */
export function between(column: string, lowest: string, highest: string): string {
  return `${column} >= ${lowest} AND ${column} <= ${highest}`;
}

/**
 * The conditions that one column has a value, and another one a place or a later one. Only the index of the first, followed
 * by the second, has that place. From an equality, PostgreSQL may read the whole index of the second for a rare value.
 */
export function valueFrom(
  [column, other]: readonly [string, string],
  value: string,
  lowest: string,
): string[] {
  return [`(${column}, ${other}) >= (${value}, ${lowest})`, `${column} <= ${value}`];
}

/**
 * Selects the rows of several parts, one part behind the other. PostgreSQL reads the parts of UNION ALL in this order, as
 * long as more rows are needed. Without a LIMIT in each part, it may read them in parallel, in any order.
 *
 * @param parts each with a LIMIT
 * @param page LIMIT and OFFSET
 */
export function consecutive(parts: readonly string[], page: string): string {
  const all = parts.map((part) => `(${part})`).join(' UNION ALL ');
  return parts.length === 1 ? all : `SELECT * FROM (${all}) object ${page}`;
}

/**
 * Adds conditions before those that a WHERE clause has. PostgreSQL begins to read an index at the first condition that
 * gives a place in it: at a key of a page. Without it, it begins at the end of an interval that contains the key.
 */
export function andFirst(where: string, ...conditions: string[]): string {
  const others = where === '' ? [] : [where.slice('WHERE '.length)];
  return `WHERE ${[...conditions, ...others].join(' AND ')}`;
}

/** Maximum number of matching objects that are collected and sorted: a bound on time and memory. */
export const MAXIMUM_SORTED = 50_000;
/**
 * What it costs to collect and sort an object, where to read one in the order of the list costs 1. If the objects are
 * looked up, each one is visited for its place in the order. Measured; `lookedUp` with 1,000,000 products.
 */
export const SORTING_COST = { read: 2, lookedUp: 15 };
/** What it costs to find an object by a word in an index, in the same measure. */
export const SEARCH_COST = 0.1;
/** How many objects a table without a tally is assumed to have. */
export const ASSUMED_OBJECTS = 1_000_000;
/** How many objects are counted in an index in the time in which one facet is looked up. */
export const OBJECTS_PER_LOOKUP = 20;
