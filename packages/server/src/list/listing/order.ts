import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { identifierOf, orderColumnOf } from '../../resource/resource.js';
import { RELEVANCE, type SortKey } from '../query/list-query.dto.js';

export interface OrderKey {
  readonly column: ColumnMetadata;
  readonly direction: SortKey['direction'];
}

/** Whether a list is in the order of relevance, and then in that of its other sort keys. */
export function isByRelevance(sort: readonly SortKey[] = []): boolean {
  return sort[0]?.field === RELEVANCE;
}

/**
 * The order of a list by columns. The identifier comes last, in the direction of the column before it, and is
 * unique, so the order is total. Relevance is left out.
 */
export function totalOrder(metadata: EntityMetadata, keys: readonly SortKey[] = []): OrderKey[] {
  const identifier = identifierOf(metadata);
  const sort = keys
    .filter(({ field }) => field !== RELEVANCE)
    .map(({ field, direction }) => ({ column: orderColumnOf(metadata, field), direction }));
  const at = sort.findIndex(({ column }) => column === identifier);
  return at < 0
    ? [...sort, { column: identifier, direction: sort.at(-1)?.direction ?? 'ASC' }]
    : // Keys after the identifier change nothing.
      sort.slice(0, at + 1);
}

/** Whether an index has an order: by identifier, or by one column and by identifier in the same direction. */
export function isIndexed([first, second, ...others]: readonly OrderKey[]): boolean {
  return !second || (first?.direction === second.direction && others.length === 0);
}

/**
 * ORDER BY of a list. Objects without a value come last in both directions.
 *
 * @param table the table in SQL whose columns it names
 * @param first an SQL expression that comes before them
 */
export function orderBy(order: readonly OrderKey[], table = 'object', first?: string): string {
  const keys = order.map((key) => `${table}."${key.column.databaseName}" ${directionOf(key)}`);
  return `ORDER BY ${[...(first === undefined ? [] : [first]), ...keys].join(', ')}`;
}

/**
 * ORDER BY within a branch of a list, forwards or backwards. It has no NULLS clause for the first column: within a
 * branch this column has a value everywhere, or nowhere.
 */
export function branchOrderBy(order: readonly OrderKey[], isReverse = false): string {
  const keys = order.map((key, at) => {
    const direction = at === 0 ? key.direction : directionOf(key);
    return `${referenceTo(key)} ${isReverse ? REVERSE[direction] : direction}`;
  });
  return `ORDER BY ${keys.join(', ')}`;
}

/**
 * The branches of a list, in its order, as conditions. An index that is read backwards has each of them in
 * order, but not one behind the other.
 */
export function branchesOf([first]: readonly OrderKey[]):
  readonly [] | readonly [valued: string, missing: string] {
  if (first?.direction !== 'DESC' || !first.column.isNullable) return [];
  return [`${referenceTo(first)} IS NOT NULL`, `${referenceTo(first)} IS NULL`];
}

type Direction = OrderKey['direction'] | 'DESC NULLS LAST';

/** By default, PostgreSQL has objects without a value last in ascending order, and first in descending order. */
function directionOf({ column, direction }: OrderKey): Direction {
  return direction === 'DESC' && column.isNullable ? 'DESC NULLS LAST' : direction;
}

const REVERSE: Readonly<Record<Direction, string>> = {
  ASC: 'DESC',
  DESC: 'ASC',
  'DESC NULLS LAST': 'ASC NULLS FIRST',
};

/** The columns of an order. */
export function keysOf(order: readonly OrderKey[]): string {
  return order.map(referenceTo).join(', ');
}

/** A column of an order in SQL on `object`. */
export function referenceTo({ column }: OrderKey): string {
  return `object."${column.databaseName}"`;
}
