import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../database/statement.js';
import { sqlTypeOf } from '../resource/column-values.js';
import { columnOf } from '../resource/resource.js';
import type { SortKey } from './list-query.dto.js';
import { type MatchingObjects, orderBy } from './matching-objects.js';

/** The objects from which a page picks, as SQL on `object`, the table of the resource. */
export interface Picking {
  readonly metadata: EntityMetadata;
  /** `WHERE …`, or empty. */
  readonly where: string;
  readonly split?: MatchingObjects['split'];
  /** The total order of the list. */
  readonly order: readonly SortKey[];
  /** An SQL expression. */
  readonly limit: string;
  readonly values: ParameterValues;
}

/** The value of each column of an object's order as text; the last one is its identifier. */
export type PageKey = readonly (string | null)[];

/**
 * The tables for the objects of a page from the one in the table `start` on; see `TalliedList`.
 *
 * @param skipped an SQL expression: how many objects without a value in the sorted column to skip
 */
export function pickedFromStart(picking: Picking, skipped: string): string[] {
  return isSimple(picking.order)
    ? pickedFrom(picking, '=', skipped)
    : pickedFromGroup(picking, skipped);
}

/** The tables for the objects of a page behind the one with a key. Only for orders of `isSimple`. */
export function pickedAfter(picking: Picking, key: PageKey): string[] {
  const { metadata, order, values, where, limit } = picking;
  const [first] = order;
  const id = `${values.add(key.at(-1))}::text AS id`;
  if (order.length === 1 || !first) {
    return [`start AS (SELECT ${id})`, ...pickedFrom(picking, '', '0')];
  }
  const column = columnOf(metadata, first.field);
  const [value] = key;
  if (value === null) {
    const sorted = `object."${column.databaseName}" IS NULL`;
    const identifier = `object."${order[1]?.field ?? ''}"`;
    return [
      `start AS (SELECT ${id})`,
      `picked AS MATERIALIZED (
        SELECT ${keysOf(order)} FROM object
        ${and(where, sorted, `${identifier} > (SELECT id FROM start)`)}
        ORDER BY ${identifier} LIMIT ${limit}
      )`,
    ];
  }
  return [
    `start AS (SELECT ${values.add(value)}::${sqlTypeOf(column)} AS value, ${id})`,
    ...pickedFrom(picking, '', '0'),
  ];
}

/** Whether an order is by identifier, or by one column and then by ascending identifier. */
export function isSimple(order: readonly SortKey[]): boolean {
  return order.length === 1 || (order.length === 2 && order[1]?.direction === 'ASC');
}

/**
 * @param equal `=` to begin with the object in `start`, empty to begin behind it
 * @param skipped how many objects without a value to skip
 */
function pickedFrom(picking: Picking, equal: '=' | '', skipped: string): string[] {
  const { metadata, where, order, limit } = picking;
  const keys = keysOf(order);
  const [first, second] = order;
  const page = `${orderBy(metadata, order)} LIMIT ${limit}`;
  const start = (name: string): string => `(SELECT ${name} FROM start)`;
  const select = (...conditions: string[]): string =>
    `SELECT ${keys} FROM object ${and(where, ...conditions)} ${page}`;
  if (!first) throw new TypeError('An order has at least the identifier');
  const column = columnOf(metadata, first.field);
  const sorted = `object."${column.databaseName}"`;
  const beyond = first.direction === 'ASC' ? '>' : '<';
  if (!second) {
    return [`picked AS MATERIALIZED (${select(`${sorted} ${beyond}${equal} ${start('id')}`)})`];
  }
  const identifier = `object."${second.field}"`;
  // The index is in the order of both columns. For the descending order, a comparison of rows would be
  // of the wrong direction in the second one.
  if (first.direction === 'ASC') {
    const row = `(${sorted}, ${identifier}) >${equal} (${start('value')}, ${start('id')})`;
    return withMissing(picking, select(row), skipped);
  }
  const group = select(`${sorted} = ${start('value')}`, `${identifier} >${equal} ${start('id')}`);
  const others = select(`${sorted} < ${start('value')}`);
  return withMissing(picking, united(group, others, page), skipped);
}

/** The same for an order by more columns than one and the identifier, from the place in `start` on. */
function pickedFromGroup(picking: Picking, skipped: string): string[] {
  const { metadata, where, order, limit } = picking;
  const [first] = order;
  if (!first) throw new TypeError('An order has at least the identifier');
  const sorted = `object."${first.field}"`;
  const value = '(SELECT value FROM start)';
  const page = `${orderBy(metadata, order)} LIMIT ${limit}`;
  const select = (operator: string): string =>
    `SELECT ${keysOf(order)} FROM object ${and(where, `${sorted} ${operator} ${value}`)} ${page}`;
  const group = `${select('=')} OFFSET (SELECT skipped FROM start)`;
  const others = select(first.direction === 'ASC' ? '>' : '<');
  return withMissing(picking, united(group, others, page), skipped);
}

function united(group: string, others: string, page: string): string {
  return `SELECT * FROM ((${group}) UNION ALL (${others})) object ${page}`;
}

/**
 * The table `picked` of objects with a value in the sorted column, and of those without behind them.
 *
 * @param skipped how many of the objects without a value to skip
 */
function withMissing(
  { metadata, where, order, limit }: Picking,
  valued: string,
  skipped: string,
): string[] {
  const [first, ...others] = order;
  const column = columnOf(metadata, first?.field ?? '');
  if (!column.isNullable) return [`picked AS MATERIALIZED (${valued})`];
  const isMissing = `object."${column.databaseName}" IS NULL`;
  return [
    `valued AS MATERIALIZED (${valued})`,
    `picked AS MATERIALIZED (
      SELECT * FROM valued
      UNION ALL
      (SELECT ${keysOf(order)} FROM object
       ${and(where, isMissing, `(SELECT count(*) FROM valued) < ${limit}`)}
       ${orderBy(metadata, others)}
       LIMIT ${limit} - (SELECT count(*) FROM valued) OFFSET ${skipped})
    )`,
  ];
}

/** Adds conditions to a WHERE clause, which may be empty. */
export function and(where: string, ...conditions: string[]): string {
  if (conditions.length === 0) return where;
  return `${where === '' ? 'WHERE' : `${where} AND`} ${conditions.join(' AND ')}`;
}

/** The columns of an order. */
export function keysOf(order: readonly SortKey[]): string {
  return order.map(({ field }) => `object."${field}"`).join(', ');
}
