import { orderBy, reverseOrderBy } from './matching-objects.js';
import { and, keysOf, type Picking } from './picked-objects.js';

/** Maximum number of matching objects that are collected and sorted. */
const MOST_SORTED = 50_000;
/** By how much it costs more to collect and sort an object than to read one in the order of the list. */
const SORTING_COST = 2;

/** How the objects of a page are found. All members are SQL expressions. */
interface Skipping {
  /** Absent: the first page. */
  readonly offset?: string;
  /** How many objects the index in the order of the list has, matching ones and others. */
  readonly scanned: string;
}

/**
 * The tables for the objects of a page: `picked` has the columns of their order. It skips objects one by
 * one. Refers to `counted`, the number of matching objects.
 *
 * Either all matching objects are collected and sorted, or objects are read in the order of the list until
 * the page is complete. The planner cannot decide it: it assumes that conditions are independent of each
 * other. If matching objects are spread evenly over the order, `reach * scanned / total` are read.
 */
export function pickedByOffset(picking: Picking, { offset, scanned }: Skipping): string[] {
  const { metadata, where, order, limit } = picking;
  const page = `${orderBy(metadata, order)} LIMIT ${limit}${offset ? ` OFFSET ${offset}` : ''}`;
  if (where === '' && !offset) {
    return [`picked AS MATERIALIZED (SELECT ${keysOf(order)} FROM object ${page})`];
  }
  const behind = `(SELECT total FROM counted) - ${offset ?? '0'} - ${limit}`;
  const ways = {
    sorted: `SELECT * FROM (
        SELECT ${keysOf(order)} FROM object ${and(where, isWay('sorted'))} OFFSET 0
      ) object ${page}`,
    forward: `${inOrder(picking, isWay('forward'))} ${page}`,
    backward: `SELECT ${keysOf(order)} FROM object ${and(where, isWay('backward'))}
      ${reverseOrderBy(metadata, order)}
      LIMIT greatest(${limit} + least(${behind}, 0), 0) OFFSET greatest(${behind}, 0)`,
  };
  const parts = [
    ...(where ? [ways.sorted] : []),
    ways.forward,
    ...(offset ? [ways.backward] : []),
  ].map((part) => `(${part})`);
  // The number of matching objects from the nearer end of the list to the end of the page.
  const reach = offset ? `least(${offset} + ${limit}, total - ${offset})` : limit;
  return [
    `way AS MATERIALIZED (
      SELECT CASE
        WHEN total = 0 THEN 'none'
        ${where ? `WHEN total <= ${MOST_SORTED} AND ${SORTING_COST} * total * total < ${reach} * ${scanned} THEN 'sorted'` : ''}
        ${offset ? `WHEN ${offset} > total / 2 THEN 'backward'` : ''}
        ELSE 'forward'
      END AS name FROM counted
    )`,
    `picked AS MATERIALIZED (${parts.join(' UNION ALL ')})`,
  ];
}

/** The condition that the objects are found in a way. PostgreSQL evaluates it once, before it reads any. */
function isWay(name: string): string {
  return `(SELECT name FROM way) = '${name}'`;
}

/**
 * Selects the keys of matching objects in the order of the list. An index that does not carry every
 * condition is read for those that it carries. The objects that it leaves are looked up for the others.
 */
function inOrder({ metadata, where, split, order }: Picking, condition: string): string {
  const keys = keysOf(order);
  if (!split) return `SELECT ${keys} FROM object ${and(where, condition)}`;
  const identifier = order.at(-1)?.field ?? '';
  return `SELECT ${keys} FROM (
      SELECT candidate.* FROM (
        SELECT ${keys} FROM object ${and(split.carried, condition)} ${orderBy(metadata, order)} OFFSET 0
      ) candidate CROSS JOIN LATERAL (
        SELECT FROM "${metadata.tableName}" object
        ${and(split.others, `object."${identifier}" = candidate."${identifier}"`)} OFFSET 0
      ) matching
    ) object`;
}
