import {
  ASSUMED_OBJECTS,
  FENCE,
  MAXIMUM_SORTED,
  NO_LIMIT,
  SEARCH_COST,
  SORTING_COST,
} from '../../database/planner.js';
import { hasOwnTable, tableOf } from '../../resource/resource.js';
import { tallyOf, wordTallyOf } from '../../tally/described-tally.js';
import { EVERY_OBJECT, facetNames, tallyRows, wordCountOf } from '../../tally/facet.js';
import { and } from '../condition/print.js';
import { keysOf, orderBy } from '../listing/order.js';
import { compareNothing, facetsOf } from './criteria.js';
import { everyMatching, inBranches, type Picking, type Section } from './picked-objects.js';
import { placeAmongAll } from './tallied-place.js';

/** How deep in its list a page begins, and what it takes to read up to there. All members but the last are SQL expressions. */
export interface Depth {
  /** Absent: the first page. */
  readonly offset?: string;
  /**
   * How many objects the index in the order of the list has, matching ones and others. Absent if the list
   * has no conditions.
   */
  readonly indexSize?: string;
  /**
   * How many objects contain a common word that is searched for, if other conditions have to be met as well.
   * An index finds all of them before the other conditions leave some.
   */
  readonly searchSize?: string;
  /** Whether there is a table `collected` of all matching objects, if they are to be sorted; see the count plan of this name. */
  readonly isCollected?: boolean;
}

export function depthAt(picking: Picking, offset: string | undefined): Depth {
  // A statement must refer to every parameter that is added.
  if (picking.where === '') return { offset };
  return { offset, indexSize: indexSizeOf(picking), searchSize: searchSizeOf(picking) };
}

/** All objects, or in the order of the identifier those with the one value of a counted column. */
export function indexSizeOf({ metadata, criteria, order, values }: Picking): string {
  if (!hasOwnTable(metadata)) return String(ASSUMED_OBJECTS);
  const single = order.length === 1 && criteria ? [...criteria.equal] : [];
  const facets = single
    .filter(([, equals]) => equals.length === 1)
    .flatMap((criterion) => facetsOf(metadata, new Map([criterion])) ?? []);
  const names = facetNames([EVERY_OBJECT, ...facets], values);
  const rows = tallyRows(tallyOf(metadata).byIdentifier, `WHERE facet = ANY(${names})`);
  return `(SELECT min(count) FROM (SELECT sum(count) AS count FROM ${rows} GROUP BY facet) facets)`;
}

/** 0 unless the search is for one word, and a counted one; `undefined` if nothing else is compared. */
function searchSizeOf({ metadata, search, criteria, values }: Picking): string | undefined {
  if (!search || (criteria && compareNothing(criteria))) return undefined;
  const tally = wordTallyOf(metadata, search);
  if (!tally) return undefined;
  return `coalesce(${wordCountOf(tally, search.words, false, [EVERY_OBJECT], values)}, 0)`;
}

/**
 * The tables for the objects of a page: `picked` has the columns of their order. It skips objects one by
 * one. Refers to `counted`, the number of matching objects.
 *
 * Either all matching objects are collected and sorted, or objects are read in the order of the list until
 * the page is complete. The planner cannot decide it: it assumes that conditions are independent of each
 * other. Let `reach` be the number of matching objects from the nearer end of the list to the end of the page.
 * If they are spread evenly over the order, about `reach * indexSize / total` objects are read. A sort costs
 * `cost * total`. So the objects are sorted if `cost * total * total < reach * indexSize`. What an index finds
 * of a common word before other conditions leave some of it is added to the cost. Of a list that excludes values, few
 * objects may be skipped: see `placeAmongAll`.
 *
 * @param part ends the names of these tables, for a page that is picked from several lists
 */
export function pickedByOffset(picking: Picking, depth: Depth, part = ''): string[] {
  const { offset, indexSize, isCollected = false } = depth;
  const [counted, way] = [`counted${part}`, `way${part}`];
  // PostgreSQL evaluates it once, before it reads any object.
  const isWay = (name: string): string => `(SELECT name FROM ${way}) = '${name}'`;
  const { order, limit } = picking;
  if (!indexSize && !offset) {
    return [`picked${part} AS MATERIALIZED (${readInOrder(picking, { limit })})`];
  }
  const place = offset === undefined ? undefined : placeAmongAll(picking, offset);
  const behind = `(SELECT total FROM ${counted}) - ${offset ?? '0'} - ${limit}`;
  const ways = {
    sorted: `SELECT * FROM (${collected(picking, isWay('sorted'), isCollected)}) object
      ${orderBy(order)} LIMIT ${limit} OFFSET ${offset ?? '0'}`,
    forward: readInOrder(picking, { limit, offset }, isWay('forward')),
    backward: readInOrder(
      picking,
      {
        limit: `greatest(${limit} + least(${behind}, 0), 0)`,
        offset: `greatest(${behind}, 0)`,
        isReverse: true,
      },
      isWay('backward'),
    ),
  };
  const parts = [
    ...(indexSize ? [ways.sorted] : []),
    ...(place ? [place.select(isWay('placed'))] : []),
    ways.forward,
    ...(offset ? [ways.backward] : []),
  ].map((each) => `(${each})`);
  // What is collected with its place in the order has only to be sorted.
  const isSorted =
    isCollected && !picking.isLookedUp
      ? 'total = (SELECT count(*) FROM collected)'
      : indexSize && sortIsCheaper(picking, depth);
  return [
    ...(place?.tables ?? []),
    `${way} AS MATERIALIZED (
      SELECT CASE
        WHEN total = 0 THEN 'none'
        ${isSorted ? `WHEN ${isSorted} THEN 'sorted'` : ''}
        ${place ? `WHEN ${place.isBetter} THEN 'placed'` : ''}
        ${offset ? `WHEN ${offset} > total / 2 THEN 'backward'` : ''}
        ELSE 'forward'
      END AS name FROM ${counted}
    )`,
    `picked${part} AS MATERIALIZED (${parts.join(' UNION ALL ')})`,
  ];
}

/** The condition that a sort of all matching objects, which are `total`, costs less than to read in order. */
export function sortIsCheaper(
  { isLookedUp, limit }: Picking,
  { offset, indexSize = '0', searchSize }: Depth,
): string {
  const sorting = `${SORTING_COST[isLookedUp ? 'lookedUp' : 'read']} * total`;
  const cost = searchSize ? `(${sorting} + ${SEARCH_COST} * ${searchSize})` : sorting;
  // Behind the end it is 0: a product of an offset that no list has would be out of range.
  const reach = offset ? `greatest(least(${offset} + ${limit}, total - ${offset}), 0)` : limit;
  return `total <= ${MAXIMUM_SORTED} AND ${cost} * total < ${reach} * ${indexSize}`;
}

/** Selects the keys of all matching objects, in no order. */
function collected(picking: Picking, condition: string, isCollected: boolean): string {
  const { metadata, order, isLookedUp } = picking;
  const objects = isCollected
    ? `SELECT * FROM collected WHERE ${condition}`
    : `SELECT * FROM (${everyMatching(picking, condition)}) object ${FENCE}`;
  if (!isLookedUp) return objects;
  const identifier = order.at(-1)?.column.databaseName ?? '';
  return `SELECT object.* FROM (${objects}) matching CROSS JOIN LATERAL (
      SELECT ${keysOf(order)} FROM ${tableOf(metadata)} object
      WHERE object."${identifier}" = matching."${identifier}" ${FENCE}
    ) object`;
}

/**
 * Selects the keys of matching objects in the order of the list. An index that does not carry every condition is
 * read for those that it carries. The objects that it leaves are looked up for the others.
 */
function readInOrder(picking: Picking, section: Section, ...conditions: string[]): string {
  const { metadata, where, inOrder = where, split, order } = picking;
  const keys = keysOf(order);
  const identifier = order.at(-1)?.column.databaseName ?? '';
  return inBranches(picking, section, (ordering, ...branch) => {
    if (!split) {
      return `SELECT ${keys} FROM object ${and(inOrder, ...conditions, ...branch)} ${ordering}`;
    }
    return `SELECT ${keys} FROM (
      SELECT candidate.* FROM (
        SELECT ${keys} FROM object ${and(split.carried, ...conditions, ...branch)} ${ordering}
        LIMIT ${NO_LIMIT}
      ) candidate CROSS JOIN LATERAL (
        SELECT FROM ${tableOf(metadata)} object
        ${and(split.others, `object."${identifier}" = candidate."${identifier}"`)} ${FENCE}
      ) matching
    ) object ${ordering}`;
  });
}
