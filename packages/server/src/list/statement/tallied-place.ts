import type { ParameterValues } from '../../database/statement.js';
import { hasOwnTable, identifierOf } from '../../resource/resource.js';
import { isIndexed, type OrderKey } from '../listing/order.js';
import { TallyRanks } from '../../tally/ranks.js';
import { tallyOf } from '../../tally/described-tally.js';
import { onlyInterval } from './criteria.js';
import type { MatchingObjects } from './matching-objects.js';
import { type Counted, countedBetween, countOfFacets, sortedObjects } from './tallied-counts.js';

/**
 * The place of an offset in a list, with the number of its objects. The table `start` has one row for the first object of
 * the page: its value in the sorted column as `value`, and its identifier as `id`; or, unless the order is `isIndexed`, the
 * number of objects with the same value before it as `skipped`. It is empty if the page begins behind all objects with a
 * value.
 */
export interface TalliedPlace extends Counted {
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
  if (facets && first.column === identifierOf(metadata)) {
    const objects = { metadata, order: tallyOf(metadata).byIdentifier, facets };
    return (offset, values) => {
      const count = countOfFacets(metadata, facets, values);
      const ranks = new TallyRanks(objects, values);
      const { tables, total } = ranks;
      ranks.addPlace('start', first.direction === 'DESC' ? `${total} - 1 - ${offset}` : offset);
      return { tables, total: count, valuedCount: total };
    };
  }
  const { propertyName } = first.column;
  const objects = sortedObjects(metadata, propertyName, criteria);
  if (!objects) return undefined;
  const interval = onlyInterval(criteria);
  if (interval?.column === propertyName) {
    return (offset, values) => {
      const { ranks, tables, total } = countedBetween(interval, objects, values);
      addSortedStart(ranks, order, offset, true);
      return { tables, total, valuedCount: total };
    };
  }
  if (!facets) return undefined;
  return (offset, values) => {
    const count = countOfFacets(metadata, facets, values);
    const ranks = new TallyRanks(objects, values);
    addSortedStart(ranks, order, offset);
    return { tables: ranks.tables, total: count, valuedCount: ranks.total };
  };
}

/**
 * Adds the table `start` for an order that begins with a sorted column.
 *
 * @param isInterval whether the list is an interval of the column, with a table `outside`
 */
function addSortedStart(
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
