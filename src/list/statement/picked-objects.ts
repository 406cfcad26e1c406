import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { columnOf, identifierOf, isOwn, tableOf } from '../../resource/resource.js';
import type { SortKey } from '../query/list-query.dto.js';
import { and } from '../listing/where.js';
import type { MatchingObjects } from './matching-objects.js';
import { keysOf, orderBy } from '../listing/order.js';

/** The objects from which a page picks, as SQL on `object`, the table of the resource. */
export interface Picking extends Pick<
  MatchingObjects,
  'where' | 'split' | 'isFoundFirst' | 'inOrder' | 'indexChoice'
> {
  readonly metadata: EntityMetadata;
  /** Conditions for the objects that the client sees. */
  readonly visible: readonly string[];
  /** The total order of the list. */
  readonly order: readonly SortKey[];
  /** An SQL expression. */
  readonly limit: string;
  readonly values: ParameterValues;
}

/** What it takes to find the object behind which a list begins. */
export type Anchoring = Pick<Picking, 'metadata' | 'visible' | 'order' | 'values'>;

/** The value of each column of an object's order as text; the last one is its identifier. */
export type PageKey = readonly (string | null)[];

/**
 * The tables for the objects of a page from the one in the table `start` on; see `TalliedList`.
 *
 * @param skipped an SQL expression: how many objects without a value in the sorted column to skip
 */
export function pickedFromStart(picking: Picking, skipped: string): string[] {
  const inOrder = { ...picking, where: picking.inOrder ?? picking.where };
  return isSimple(picking.order) ? pickedFrom(inOrder, skipped) : pickedFromGroup(inOrder, skipped);
}

/**
 * The table `anchor` with the key of an object that was on an earlier page: one row, a column for each sort
 * field. `start` of `TalliedList` has other columns.
 */
function anchorAt({ metadata, order, values }: Picking, key: PageKey): string {
  const parameters = order.map((_, at) => values.add(key[at]));
  if (!isOwn(metadata)) {
    // The types of its columns are not known by name: in a union the parameters get those of the columns.
    const typed = `SELECT ${keysOf(order)} FROM object WHERE false`;
    return `anchor AS MATERIALIZED (${typed} UNION ALL SELECT ${parameters.join(', ')})`;
  }
  const columns = order.map(
    ({ field }, at) =>
      `${parameters[at] ?? ''}::${sqlTypeOf(columnOf(metadata, field))} AS "${field}"`,
  );
  return `anchor AS MATERIALIZED (SELECT ${columns.join(', ')})`;
}

/**
 * The same with the key of the object with an identifier. The table is empty if the client sees none.
 *
 * @param more a further column
 */
export function anchorOf(
  { metadata, visible, order, values }: Anchoring,
  identifier: string,
  more?: string,
): string {
  const columns = more === undefined ? keysOf(order) : `${keysOf(order)}, ${more}`;
  const key = `object."${identifierOf(metadata).databaseName}"`;
  const where = and(`WHERE ${key} = ${values.add(identifier)}`, ...visible);
  return `anchor AS MATERIALIZED (SELECT ${columns} FROM ${tableOf(metadata)} object ${where})`;
}

/**
 * The table for the objects of a page behind the one whose key is in the table `anchor`. There is a part for
 * each condition on the first column, so that each reads an index from the place on.
 *
 * @param part ends the name of the table, for a page that is picked from several lists
 */
export function pickedBehind(picking: Picking, part = ''): string {
  return `picked${part} AS MATERIALIZED (${behindAnchor(picking)})`;
}

/** The same for a page behind the one with a key, with no part for what the key rules out. */
export function pickedBehindKey(picking: Picking, key: PageKey): string[] {
  const isValued = key[0] !== null;
  return [anchorAt(picking, key), `picked AS MATERIALIZED (${behindAnchor(picking, isValued)})`];
}

/** @param isValued whether `anchor` has a value in the first column; absent: that is not known */
function behindAnchor({ metadata, where, order, limit }: Picking, isValued?: boolean): string {
  const [first, second, ...others] = order;
  if (!first) throw new TypeError('An order has at least the identifier');
  const page = `${orderBy(metadata, order)} LIMIT ${limit}`;
  const select = (...conditions: string[]): string =>
    `SELECT ${keysOf(order)} FROM object ${and(where, ...conditions)} ${page}`;
  const [column, value] = [`object."${first.field}"`, anchorValue(first)];
  const parts: string[] = [];
  if (!second) return select(isBehind(metadata, order));
  const isRestBehind = isBehind(metadata, order.slice(1));
  if (isValued !== false) {
    if (first.direction === 'ASC' && second.direction === 'ASC' && others.length === 0) {
      const [identifier, id] = [`object."${second.field}"`, anchorValue(second)];
      parts.push(select(`(${column}, ${identifier}) > (${value}, ${id})`));
    } else {
      parts.push(select(`${column} = ${value}`, isRestBehind), select(isBeyond(first)));
    }
  }
  if (columnOf(metadata, first.field).isNullable) {
    const isMissing = `${column} IS NULL`;
    if (isValued !== true) parts.push(select(isMissing, `${value} IS NULL`, isRestBehind));
    if (isValued !== false) parts.push(select(isMissing, `${value} IS NOT NULL`));
  }
  return united(parts, page);
}

/** A condition: an object comes behind the one in `anchor` by these columns, of which the last is unique. */
export function isBehind(metadata: EntityMetadata, [first, ...others]: readonly SortKey[]): string {
  if (!first) throw new TypeError('An order has at least the identifier');
  if (others.length === 0) return isBeyond(first);
  const [column, value] = [`object."${first.field}"`, anchorValue(first)];
  const rest = isBehind(metadata, others);
  return columnOf(metadata, first.field).isNullable
    ? `(${isBeyond(first)} OR ${column} IS NULL AND ${value} IS NOT NULL
        OR ${column} IS NOT DISTINCT FROM ${value} AND ${rest})`
    : `(${isBeyond(first)} OR ${column} = ${value} AND ${rest})`;
}

function isBeyond(key: SortKey): string {
  return `object."${key.field}" ${key.direction === 'ASC' ? '>' : '<'} ${anchorValue(key)}`;
}

function anchorValue({ field }: SortKey): string {
  return `(SELECT "${field}" FROM anchor)`;
}

/** Whether an order is by identifier, or by one column and then by ascending identifier. */
export function isSimple(order: readonly SortKey[]): boolean {
  return order.length === 1 || (order.length === 2 && order[1]?.direction === 'ASC');
}

/** @param skipped how many objects without a value to skip */
function pickedFrom(picking: Picking, skipped: string): string[] {
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
    return [`picked AS MATERIALIZED (${select(`${sorted} ${beyond}= ${start('id')}`)})`];
  }
  const identifier = `object."${second.field}"`;
  // The index is in the order of both columns. For the descending order, a comparison of rows would be
  // of the wrong direction in the second one.
  if (first.direction === 'ASC') {
    const row = `(${sorted}, ${identifier}) >= (${start('value')}, ${start('id')})`;
    return withMissing(picking, select(row), skipped);
  }
  const group = select(`${sorted} = ${start('value')}`, `${identifier} >= ${start('id')}`);
  const others = select(`${sorted} < ${start('value')}`);
  return withMissing(picking, united([group, others], page), skipped);
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
  return withMissing(picking, united([group, others], page), skipped);
}

function united(parts: readonly string[], page: string): string {
  const all = parts.map((part) => `(${part})`).join(' UNION ALL ');
  return `SELECT * FROM (${all}) object ${page}`;
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

/**
 * Selects the columns of the order of all matching objects, in no order; their identifiers alone if the objects have
 * to be looked up for the others (`Picking.isFoundFirst`).
 *
 * @param condition PostgreSQL evaluates it once, before it reads any object
 */
export function everyMatching(picking: Picking, condition: string): string {
  const { where, order, isFoundFirst, indexChoice } = picking;
  const columns = keysOf(isFoundFirst ? order.slice(-1) : order);
  const select = (conditions: string, ...others: string[]): string =>
    `SELECT ${columns} FROM object ${and(conditions, condition, ...others)}`;
  if (!indexChoice) return select(where);
  const { byValue, byInterval } = indexChoice;
  return `${select(byValue, '(SELECT NOT is_interval FROM rarer)')}
    UNION ALL ${select(byInterval, '(SELECT is_interval FROM rarer)')}`;
}
