import type { EntityMetadata } from 'typeorm';
import { columnOf, identifierOf, sortedColumnsOf } from '../../resource/resource.js';
import { RELEVANCE, type SortKey } from '../query/list-query.dto.js';

/** Whether a list is in the order of relevance, and then in that of its other sort keys. */
export function isByRelevance(sort: readonly SortKey[] = []): boolean {
  return sort[0]?.field === RELEVANCE;
}

/**
 * The order of a list by columns. The identifier comes last and is unique, so the order is total. Relevance
 * is left out.
 */
export function totalOrder(metadata: EntityMetadata, keys: readonly SortKey[] = []): SortKey[] {
  const { propertyName: identifier } = identifierOf(metadata);
  const sort = keys.filter(({ field }) => field !== RELEVANCE);
  const at = sort.findIndex(({ field }) => field === identifier);
  return at < 0
    ? [...sort, { field: identifier, direction: 'ASC' }]
    : // Keys after the identifier change nothing.
      sort.slice(0, at + 1);
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
  const keys = order.map(({ field, direction }) => {
    return `${table}."${field}" ${direction === 'ASC' ? 'ASC' : descendingIn(metadata, field)}`;
  });
  return `ORDER BY ${[...(first === undefined ? [] : [first]), ...keys].join(', ')}`;
}

/** The descending order by a column, in which objects without a value come last, as in the ascending one. */
export function descendingIn(metadata: EntityMetadata, field: string): string {
  return hasNullsLast(metadata, field) ? 'DESC NULLS LAST' : 'DESC';
}

/** The reverse of `orderBy`. PostgreSQL reads the same index backwards. */
export function reverseOrderBy(metadata: EntityMetadata, order: readonly SortKey[]): string {
  const keys = order.map(({ field, direction }) => {
    const ascending = hasNullsLast(metadata, field) ? 'ASC NULLS FIRST' : 'ASC';
    return `object."${field}" ${direction === 'ASC' ? 'DESC' : ascending}`;
  });
  return `ORDER BY ${keys.join(', ')}`;
}

/**
 * Whether a descending order says where objects without a value come. It does so also where every object
 * has a value: only so does the planner use a descending index of the lists.
 */
function hasNullsLast(metadata: EntityMetadata, field: string): boolean {
  return columnOf(metadata, field).isNullable || sortedColumnsOf(metadata).includes(field);
}

/** The columns of an order. */
export function keysOf(order: readonly SortKey[]): string {
  return order.map(({ field }) => `object."${field}"`).join(', ');
}
