import { andFirst, SORTING_COST, unindexed } from '../../database/planner.js';
import type { ParameterValues } from '../../database/statement.js';
import { carriedColumnsOf } from '../../resource/list-indexes.js';
import { hasOwnTable, identifierOf } from '../../resource/resource.js';
import { Cells, type TalliedObjects, TallyRanks } from '../../tally/ranks.js';
import { cellTallyOf, tallyOf } from '../../tally/described-tally.js';
import { facetNames } from '../../tally/facet.js';
import { and, sqlEach } from '../condition/print.js';
import { branchOrderBy, isIndexed, keysOf, type OrderKey, referenceTo } from '../listing/order.js';
import { type Criteria, facetsOf, onlyInterval } from './criteria.js';
import type { MatchingObjects } from './page-statement.js';
import type { Picking } from './picked-objects.js';
import { type Counted, countedBetween, countOfFacets, sortedObjects } from './tallied-counts.js';

/**
 * The place of an offset in a list, with the number of its objects. The table `start` has one row for the first object of
 * the page: its value in the sorted column as `value`, and its identifier as `id`; or, unless the order is `isIndexed`, the
 * number of objects with the same value before it as `skipped`. It is empty if the page begins behind all objects with a
 * value.
 */
interface TalliedPlace extends Counted {
  /** The number of matching objects with a value in the sorted column, in SQL. */
  readonly valuedCount: string;
}

/**
 * The place of an offset, given its parameter; `undefined` if the tally does not know it.
 *
 * @param order the total order of the list
 */
export function talliedPlace(
  { metadata, facets, criteria }: MatchingObjects,
  order: readonly OrderKey[],
): ((offset: string, values: ParameterValues) => TalliedPlace) | undefined {
  const [first] = order;
  if (!criteria || !first || !hasOwnTable(metadata)) return undefined;
  // An interval is placed by the ranks of a sorted column, which the identifier can be, too.
  const objects = facets
    ? orderedObjects(metadata, first, criteria)
    : sortedObjects(metadata, first.column.propertyName, criteria);
  if (!objects) return undefined;
  const interval = onlyInterval(criteria);
  if (interval && interval.column === objects.order.column?.propertyName) {
    return (offset, values) => {
      const { ranks, tables, total } = countedBetween(interval, objects, values);
      addStart(ranks, order, offset, true);
      return { tables, total, valuedCount: total };
    };
  }
  if (!facets) return undefined;
  return (offset, values) => {
    const count = countOfFacets(metadata, facets, values);
    const ranks = new TallyRanks(objects, values);
    addStart(ranks, order, offset);
    return { tables: ranks.tables, total: count, valuedCount: ranks.total };
  };
}

/**
 * Adds the table `start`.
 *
 * @param isInterval whether the list is an interval of the sorted column, with a table `outside`
 */
function addStart(
  ranks: TallyRanks,
  order: readonly OrderKey[],
  offset: string,
  isInterval = false,
): void {
  const { tables, total } = ranks;
  const isAscending = order[0]?.direction === 'ASC';
  const side = isAscending ? 'below' : 'above';
  const rank = isInterval ? `(${offset} + (SELECT ${side} FROM outside))` : offset;
  const place = isIndexed(order) ? 'start' : 'value_at';
  ranks.addPlace(place, isAscending ? rank : `${total} - 1 - ${rank}`);
  if (place === 'start') return;
  const value = '(SELECT value FROM value_at)';
  const before = isAscending ? ranks.below(value, false) : `${total} - ${ranks.below(value, true)}`;
  tables.push(
    `start AS MATERIALIZED (SELECT value, ${rank} - (${before}) AS skipped FROM value_at)`,
  );
}

/** A way to a page of the objects that do not have some values, as SQL. It refers to its own tables. */
interface PlaceAmongAll {
  readonly tables: readonly string[];
  /**
   * Whether every object of the page has a value in the sorted column, and this way costs less than to skip objects. It
   * refers to `total`.
   */
  readonly isBetter: string;
  /** Selects the keys of the page. */
  readonly select: (isTaken: string) => string;
}

/**
 * Finds the object whose rank is the offset among all objects, also the excluded ones: the tally knows it. The excluded
 * objects before it are counted, and as many matching ones behind it are skipped. `undefined` if the tally has no such rank.
 */
export function placeAmongAll(picking: Picking, offset: string): PlaceAmongAll | undefined {
  const { metadata, criteria, conditions, split, where, order, limit, values } = picking;
  const [first] = order;
  const [excluded, ...others] = criteria ? [...criteria.excluded.keys()] : [];
  if (!first || !criteria || excluded === undefined || others.length > 0) return undefined;
  if (!picking.tallied?.isSure || split || !isIndexed(order)) return undefined;
  const objects = orderedObjects(metadata, first, criteria);
  if (!objects) return undefined;
  const isAscending = first.direction === 'ASC';
  const all = countOfFacets(metadata, objects.facets, values);
  const ranks = new TallyRanks(objects, values);
  ranks.addPlace('near', isAscending ? offset : `${ranks.total} - 1 - ${offset}`);
  const columns = objects.order.column ? ['value', 'id'] : ['id'];
  const near = columns.map((name) => `(SELECT ${name} FROM near)`).join(', ');
  const is = (operator: string): string =>
    `(${order.map(referenceTo).join(', ')}) ${operator} (${near})`;
  // Where neither index carries the other's column, the objects that would be skipped are visited, too.
  const column = first.column.propertyName;
  const isVisited =
    carriedColumnsOf(metadata, column).includes(excluded) &&
    !carriedColumnsOf(metadata, excluded).includes(column);
  const cost = isVisited ? SORTING_COST.lookedUp : 1;
  const before = sqlEach(
    conditions.map((each) => (each.kind === 'not' ? { ...each, kind: 'equal' } : each)),
    { metadata, values },
  );
  const [behind, ahead] = isAscending ? ['>=', '<'] : ['<=', '>'];
  // The excluded objects of whole cells are not read.
  const byCell = cellTallyOf(metadata, column);
  const facets =
    byCell && facetsOf(metadata, new Map([...criteria.equal, ...criteria.excluded]), byCell);
  // A cell that begins with this value has objects on both sides of the place.
  const bound = { value: '(SELECT value FROM near)', inclusive: false };
  const cells =
    facets && new Cells(byCell, isAscending ? { upper: bound } : { lower: bound }, '_excluded');
  const skipped = (isTaken: string): string => {
    if (!cells)
      return `SELECT count(*) FROM object ${and('', isTaken, ...before, unindexed(is(ahead)))}`;
    const within = cells.objects('', and('', ...before.map(unindexed), is(ahead)));
    return `SELECT ${cells.countOf(facetNames(facets, values))}
      + (SELECT count(*) FROM (${within}) object) WHERE ${isTaken}`;
  };
  return {
    tables: [...ranks.tables, ...(cells?.tables ?? [])],
    isBetter: `${cost} * (${all} - total) < least(${offset}, total - ${offset})
      AND ${offset} + ${limit} <= ${ranks.total} - (${all} - total)`,
    select: (
      isTaken,
    ) => `SELECT ${keysOf(order)} FROM object ${andFirst(where, isTaken, is(behind))}
      ${branchOrderBy(order)} LIMIT ${limit} OFFSET (${skipped(isTaken)})`,
  };
}

/** The objects with the values of criteria, if the tally knows their ranks in an order. */
function orderedObjects(
  metadata: MatchingObjects['metadata'],
  { column }: OrderKey,
  criteria: Criteria,
): TalliedObjects | undefined {
  if (column !== identifierOf(metadata)) {
    return sortedObjects(metadata, column.propertyName, criteria);
  }
  const facets = facetsOf(metadata, criteria.equal);
  return facets && { metadata, order: tallyOf(metadata).byIdentifier, facets };
}
