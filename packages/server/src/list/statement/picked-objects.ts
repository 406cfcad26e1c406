import { andFirst, consecutive } from '../../database/planner.js';
import type { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { identifierOf, tableOf } from '../../resource/resource.js';
import { and } from '../condition/print.js';
import {
  branchesOf,
  branchOrderBy,
  isIndexed,
  keysOf,
  type OrderKey,
  referenceTo,
} from '../listing/order.js';
import type { MatchingObjects } from './page-statement.js';

/** The objects from which a page picks, as SQL on `object`, the table of the resource. */
export interface Picking extends Omit<MatchingObjects, 'values'> {
  readonly values: ParameterValues;
  /** Conditions for the objects that the client sees. */
  readonly visible: readonly string[];
  /** The total order of the list. */
  readonly order: readonly OrderKey[];
  /** An SQL expression. */
  readonly limit: string;
}

/** The value of each column of an object's order as text; the last one is its identifier. */
export type PageKey = readonly (string | null)[];

/**
 * The table for the objects of a page from the one in the table `start` on; see `TalliedPlace`. There is a part for
 * each condition on the first column, so that each reads an index from the place on.
 *
 * @param skipped an SQL expression: how many objects without a value in the sorted column to skip
 */
export function pickedFromStart(picking: Picking, skipped: string): string {
  const { where, inOrder = where, order, limit } = picking;
  const [first, second] = order;
  if (!first) throw new TypeError('An order has at least the identifier');
  const start = (name: string): string => `(SELECT ${name} FROM start)`;
  const [column, value] = [referenceTo(first), start('value')];
  const select = (condition: string, offset = '0'): string =>
    `SELECT ${keysOf(order)} FROM object ${andFirst(inOrder, condition)}
     ${branchOrderBy(order)} LIMIT ${limit} OFFSET ${offset}`;
  const parts: string[] = [];
  if (!second) {
    parts.push(select(`${column} ${beyond(first)}= ${start('id')}`));
  } else if (isIndexed(order)) {
    const key = `(${column}, ${referenceTo(second)})`;
    parts.push(select(`${key} ${beyond(first)}= (${value}, ${start('id')})`));
  } else {
    parts.push(
      select(`${column} = ${value}`, start('skipped')),
      select(`${column} ${beyond(first)} ${value}`),
    );
  }
  if (first.column.isNullable) {
    parts.push(select(`${column} IS NULL`, skipped));
  }
  return `picked AS MATERIALIZED (${consecutive(parts, `LIMIT ${limit}`)})`;
}

/**
 * The table `anchor` with the key of an object that was on an earlier page: one row, a column for each sort
 * field. `start` of `TalliedPlace` has other columns.
 */
function anchorAt({ order, values }: Picking, key: PageKey): string {
  const parameters = order.map((_, at) => values.add(key[at]));
  const columns = order.map(
    ({ column }, at) => `${parameters[at] ?? ''}::${sqlTypeOf(column)} AS "${column.databaseName}"`,
  );
  return `anchor AS MATERIALIZED (SELECT ${columns.join(', ')})`;
}

/**
 * The table `anchor` with the key of the object with an identifier. The table is empty if the client sees none.
 *
 * @param more a further column
 */
export function anchorOf(
  { metadata, visible, order, values }: Pick<Picking, 'metadata' | 'visible' | 'order' | 'values'>,
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

/** The tables for a page behind the object with a key, with no part for what the key rules out. */
export function pickedBehindKey(picking: Picking, key: PageKey): string[] {
  const isValued = key[0] !== null;
  return [anchorAt(picking, key), `picked AS MATERIALIZED (${behindAnchor(picking, isValued)})`];
}

/** @param isValued whether `anchor` has a value in the first column; absent: that is not known */
function behindAnchor({ where, order, limit }: Picking, isValued?: boolean): string {
  const [first, second] = order;
  if (!first) throw new TypeError('An order has at least the identifier');
  const page = `LIMIT ${limit}`;
  const select = (...conditions: string[]): string =>
    `SELECT ${keysOf(order)} FROM object ${andFirst(where, ...conditions)}
     ${branchOrderBy(order)} ${page}`;
  const [column, value] = [referenceTo(first), anchorValue(first)];
  const parts: string[] = [];
  if (!second) return select(isBehind(order));
  const isRestBehind = isBehind(order.slice(1));
  if (isValued !== false) {
    if (isIndexed(order)) {
      const [identifier, id] = [referenceTo(second), anchorValue(second)];
      parts.push(select(`(${column}, ${identifier}) ${beyond(first)} (${value}, ${id})`));
    } else {
      parts.push(select(`${column} = ${value}`, isRestBehind), select(isBeyond(first)));
    }
  }
  if (first.column.isNullable) {
    const isMissing = `${column} IS NULL`;
    if (isValued !== true) parts.push(select(isMissing, `${value} IS NULL`, isRestBehind));
    if (isValued !== false) parts.push(select(isMissing, `${value} IS NOT NULL`));
  }
  return consecutive(parts, page);
}

/** A condition: an object comes behind the one in `anchor` by these columns, of which the last is unique. */
export function isBehind([first, ...others]: readonly OrderKey[]): string {
  if (!first) throw new TypeError('An order has at least the identifier');
  if (others.length === 0) return isBeyond(first);
  const [column, value] = [referenceTo(first), anchorValue(first)];
  const rest = isBehind(others);
  return first.column.isNullable
    ? `(${isBeyond(first)} OR ${column} IS NULL AND ${value} IS NOT NULL
        OR ${column} IS NOT DISTINCT FROM ${value} AND ${rest})`
    : `(${isBeyond(first)} OR ${column} = ${value} AND ${rest})`;
}

function isBeyond(key: OrderKey): string {
  return `${referenceTo(key)} ${beyond(key)} ${anchorValue(key)}`;
}

/** The operator that compares what comes behind a value in an order with it. */
function beyond({ direction }: OrderKey): '>' | '<' {
  return direction === 'ASC' ? '>' : '<';
}

function anchorValue({ column }: OrderKey): string {
  return `(SELECT "${column.databaseName}" FROM anchor)`;
}

/**
 * Selects the columns of the order of all matching objects, in no order; their identifiers alone if the objects have
 * to be looked up for the others (`Picking.isLookedUp`).
 *
 * @param condition PostgreSQL evaluates it once, before it reads any object
 */
export function everyMatching(picking: Picking, condition: string): string {
  const { where, order, isLookedUp } = picking;
  const columns = keysOf(isLookedUp ? order.slice(-1) : order);
  return `SELECT ${columns} FROM object ${and(where, condition)}`;
}

/** Which objects of a list are read. All but the last are SQL expressions. */
export interface Section {
  readonly limit: string;
  readonly offset?: string | undefined;
  /** Whether the objects are read from the end of the list. */
  readonly isReverse?: boolean;
}

/**
 * Selects objects in the order of a list as an index has it, branch by branch.
 *
 * @param select selects objects in an order, without LIMIT
 */
export function inBranches(
  { order }: { readonly order: readonly OrderKey[] },
  { limit, offset = '0', isReverse = false }: Section,
  select: (ordering: string, ...branch: readonly string[]) => string,
): string {
  const ordering = branchOrderBy(order, isReverse);
  const page = `LIMIT ${limit} OFFSET ${offset}`;
  const branches = branchesOf(order);
  if (branches.length === 0) return `${select(ordering)} ${page}`;
  const parts = (isReverse ? branches.toReversed() : branches).map(
    (branch) => `${select(ordering, branch)} LIMIT ${limit} + ${offset}`,
  );
  return consecutive(parts, page);
}
