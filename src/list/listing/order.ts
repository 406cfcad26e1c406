import type { EntityMetadata } from 'typeorm';
import { columnOf, identifierOf } from '../../resource/resource.js';
import { RELEVANCE, type SortKey } from '../query/list-query.dto.js';

/** Whether a list is in the order of relevance, and then in that of its other sort keys. */
export function isByRelevance(sort: readonly SortKey[] = []): boolean {
  return sort[0]?.field === RELEVANCE;
}

/**
 * The order of a list by columns. The identifier comes last, in the direction of the column before it, and is
 * unique, so the order is total. Relevance is left out.
 */
export function totalOrder(metadata: EntityMetadata, keys: readonly SortKey[] = []): SortKey[] {
  const { propertyName: identifier } = identifierOf(metadata);
  const sort = keys.filter(({ field }) => field !== RELEVANCE);
  const at = sort.findIndex(({ field }) => field === identifier);
  return at < 0
    ? [...sort, { field: identifier, direction: sort.at(-1)?.direction ?? 'ASC' }]
    : // Keys after the identifier change nothing.
      sort.slice(0, at + 1);
}

/** Whether an index has an order: by identifier, or by one column and by identifier in the same direction. */
export function isIndexed([first, second, ...others]: readonly SortKey[]): boolean {
  return !second || (first?.direction === second.direction && others.length === 0);
}

/**
 * ORDER BY of a list. Objects without a value come last in both directions.
 *
 * @param table the table in SQL whose columns it names
 * @param first an SQL expression that comes before them
 */
export function orderBy(
  metadata: EntityMetadata,
  order: readonly SortKey[],
  table = 'object',
  first?: string,
): string {
  const keys = order.map((key) => `${table}."${key.field}" ${directionOf(metadata, key)}`);
  return `ORDER BY ${[...(first === undefined ? [] : [first]), ...keys].join(', ')}`;
}

/**
 * ORDER BY within a branch of a list, forwards or backwards. It has no NULLS clause for the first column: within a
 * branch this column has a value everywhere, or nowhere.
 */
export function branchOrderBy(
  metadata: EntityMetadata,
  order: readonly SortKey[],
  isReverse = false,
): string {
  const keys = order.map((key, at) => {
    const direction = at === 0 ? key.direction : directionOf(metadata, key);
    return `object."${key.field}" ${isReverse ? REVERSE[direction] : direction}`;
  });
  return `ORDER BY ${keys.join(', ')}`;
}

/**
 * The branches of a list, in its order, as conditions. An index that is read backwards has each of them in
 * order, but not one behind the other.
 */
export function branchesOf(
  metadata: EntityMetadata,
  [first]: readonly SortKey[],
): readonly [] | readonly [valued: string, missing: string] {
  if (first?.direction !== 'DESC' || !columnOf(metadata, first.field).isNullable) return [];
  return [`object."${first.field}" IS NOT NULL`, `object."${first.field}" IS NULL`];
}

type Direction = SortKey['direction'] | 'DESC NULLS LAST';

/** By default, PostgreSQL has objects without a value last in ascending order, and first in descending order. */
function directionOf(metadata: EntityMetadata, { field, direction }: SortKey): Direction {
  return direction === 'DESC' && columnOf(metadata, field).isNullable
    ? 'DESC NULLS LAST'
    : direction;
}

const REVERSE: Readonly<Record<Direction, string>> = {
  ASC: 'DESC',
  DESC: 'ASC',
  'DESC NULLS LAST': 'ASC NULLS FIRST',
};

/** The columns of an order. */
export function keysOf(order: readonly SortKey[]): string {
  return order.map(({ field }) => `object."${field}"`).join(', ');
}
