import { andFirst, SORTING_COST, unindexed } from '../../database/planner.js';
import { carriedColumnsOf } from '../../resource/list-indexes.js';
import { identifierOf } from '../../resource/resource.js';
import { Cells } from '../../tally/cells.js';
import { cellTallyOf, tallyOf } from '../../tally/described-tally.js';
import { facetNames } from '../../tally/facet.js';
import { type TalliedObjects, TallyRanks } from '../../tally/ranks.js';
import { and, sqlEach } from '../condition/print.js';
import { branchOrderBy, isIndexed, keysOf, type OrderKey, referenceTo } from '../listing/order.js';
import { type Criteria, facetsOf } from './criteria.js';
import type { MatchingObjects } from './matching-objects.js';
import type { Picking } from './picked-objects.js';
import { countOfFacets, sortedObjects } from './tallied-counts.js';

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
  const objects = placedObjects(metadata, first, criteria);
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
function placedObjects(
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
