import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { capabilitiesOf } from '../../resource/capabilities.js';
import { columnOf, identifierOf } from '../../resource/resource.js';
import type { Bound } from '../condition/condition.js';
import { type Criteria, type Interval, isBounded } from './criteria.js';
import { isIndexed, type OrderKey } from '../listing/order.js';
import type { MatchingObjects } from './matching-objects.js';
import { remainder, type SortedObjects, sortedObjects, valuedCount } from './tallied-counts.js';
import { EVERY_OBJECT, type Facet, facetName, facetNames } from '../tally/facet.js';
import { TallyPositions } from '../tally/position.js';
import { countOf, identifierOrder } from '../tally/tally.js';

/** What the tally knows of a list, as SQL on `object`, the table of the resource. */
export interface TalliedList {
  /** Common table expressions that the other members refer to. */
  readonly tables: readonly string[];
  /** The number of matching objects; absent if the tally does not know it. */
  readonly count?: string;
  /**
   * The number of matching objects, or null if the facets have so few objects that the matching ones are better counted one by one: see
   * `TallyPositions.spansMore`. If it is present, `count` is absent.
   */
  readonly countUnlessRead?: string;
  /**
   * The number of matching objects with a value in the sorted column; absent if the tally does not know
   * the place of the offset, or none is asked for. If it is present, the table `start` has one row for
   * the first object of the page: its value in the sorted column as `value`, and its identifier as `id`;
   * or, unless the order is `isIndexed`, the number of objects with the same value before it as `skipped`.
   * It is empty if the page begins behind all objects with a value.
   */
  readonly valuedCount?: string;
}

/** What the tally is asked of a list. */
interface Question {
  readonly metadata: EntityMetadata;
  /** The total order of the list. */
  readonly order: readonly OrderKey[];
  /** The parameter of the offset; absent: the place is not asked for. */
  readonly offset?: string | undefined;
  /**
   * Whether the caller knows the count from an earlier page. Then the count of a narrow facet, which reads
   * objects, is left out.
   */
  readonly hasKnownCount?: boolean;
  readonly values: ParameterValues;
}

/** Takes from the tally what it knows of a list. */
export function talliedList(
  { metadata, facets, criteria }: Pick<MatchingObjects, 'metadata' | 'facets' | 'criteria'>,
  asked: Omit<Question, 'metadata'>,
): TalliedList {
  if (!criteria) return { tables: [] };
  const question = { ...asked, metadata };
  if (facets) return ofFacets(facets, criteria, question);
  const { intervals, missing, excluded, search } = criteria;
  if (search || intervals.length + missing.length + excluded.size !== 1) return { tables: [] };
  const [interval] = intervals;
  if (interval) return ofInterval(interval, criteria, question);
  return { tables: [], count: remainder(metadata, criteria, question.values) };
}

/** What the tally knows of the objects of facets. */
function ofFacets(
  facets: readonly Facet[],
  criteria: Criteria,
  { metadata, order, offset, values }: Question,
): TalliedList {
  const byIdentifier = identifierOrder(metadata);
  const count = countOf(byIdentifier, facetNames(facets, values));
  const [first] = order;
  // One range for all objects of a table of others would be read to its end.
  if (offset === undefined || !first || !capabilitiesOf(metadata).places)
    return { tables: [], count };
  if (first.column === identifierOf(metadata)) {
    const positions = new TallyPositions({ metadata, order: byIdentifier, facets }, values);
    const { tables, total } = positions;
    positions.addPlace('start', first.direction === 'DESC' ? `${total} - 1 - ${offset}` : offset);
    return { tables, count, valuedCount: total };
  }
  const objects = sortedObjects(metadata, first.column.propertyName, criteria);
  if (!objects || objects.isNarrow) return { tables: [], count };
  const positions = new TallyPositions(objects, values);
  addSortedStart(positions, order, offset);
  return { tables: positions.tables, count, valuedCount: positions.total };
}

/** What the tally knows of the objects with the values of criteria and one in an interval. */
function ofInterval(interval: Interval, criteria: Criteria, question: Question): TalliedList {
  const { metadata, order, offset, values } = question;
  const { column } = interval;
  const isPlaced = offset !== undefined && order[0]?.column.propertyName === column;
  const objects =
    isBounded(interval) || isPlaced ? sortedObjects(metadata, column, criteria) : undefined;
  if (objects?.isNarrow) return ofNarrowInterval(interval, objects, criteria, question);
  if (!objects) {
    // Without bounds it is every object with a value, which the tally may know without its ranges.
    const count = isBounded(interval) ? undefined : valuedCount(metadata, column, criteria, values);
    return { tables: [], count };
  }
  const { positions, count } = countedBetween(interval, objects, values);
  const { tables } = positions;
  if (!isPlaced) return { tables, count };
  addSortedStart(positions, order, offset, true);
  return { tables, count, valuedCount: count };
}

/** What the tally knows of an interval among narrow facets: no place, and a count only if none is known, since it reads objects. */
function ofNarrowInterval(
  interval: Interval,
  objects: SortedObjects,
  criteria: Criteria,
  { metadata, hasKnownCount = false, values }: Question,
): TalliedList {
  if (hasKnownCount) return { tables: [] };
  if (!isBounded(interval)) {
    return { tables: [], count: valuedCount(metadata, interval.column, criteria, values) };
  }
  const { positions, count } = countedBetween(interval, objects, values);
  const every = countOf(
    identifierOrder(metadata),
    values.addTyped([facetName(EVERY_OBJECT)], 'text[]'),
  );
  return {
    tables: positions.tables,
    countUnlessRead: `(CASE WHEN ${positions.spansMore(every)} THEN NULL ELSE ${count} END)`,
  };
}

/** The positions of objects, with the table `outside` of an interval, and the number of those within it. */
function countedBetween(
  interval: Interval,
  objects: SortedObjects,
  values: ParameterValues,
): { positions: TallyPositions; count: string } {
  const positions = new TallyPositions(objects, values);
  const type = sqlTypeOf(columnOf(objects.metadata, interval.column));
  const outside = outsideOf(positions, interval, type, values);
  positions.tables.push(`outside AS MATERIALIZED (SELECT ${outside})`);
  // If the lower bound is above the upper one, objects between them are outside twice.
  const count = `(SELECT greatest(0, ${positions.total} - below - above) FROM outside)`;
  return { positions, count };
}

/** The numbers of objects below an interval and above it, as `below` and `above`. */
function outsideOf(
  positions: TallyPositions,
  { lower, upper }: Interval,
  type: string,
  values: ParameterValues,
): string {
  const bound = ({ value }: Bound): string => `(${values.addTyped(value, type)})`;
  const below = lower ? positions.below(bound(lower), !lower.inclusive) : '0';
  const above = upper
    ? `${positions.total} - ${positions.below(bound(upper), upper.inclusive)}`
    : '0';
  return `${below} AS below, ${above} AS above`;
}

/**
 * Adds the table `start` for an order that begins with a sorted column.
 *
 * @param isInterval whether the list is an interval of the column, with a table `outside`
 */
function addSortedStart(
  positions: TallyPositions,
  order: readonly OrderKey[],
  offset: string,
  isInterval = false,
): void {
  const { tables, total } = positions;
  const isAscending = order[0]?.direction === 'ASC';
  const side = isAscending ? 'below' : 'above';
  const rank = isInterval ? `(${offset} + (SELECT ${side} FROM outside))` : offset;
  const place = isIndexed(order) ? 'start' : 'value_at';
  positions.addPlace(place, isAscending ? rank : `${total} - 1 - ${rank}`);
  if (place === 'start') return;
  const value = '(SELECT value FROM value_at)';
  const before = isAscending
    ? positions.below(value, false)
    : `${total} - ${positions.below(value, true)}`;
  tables.push(
    `start AS MATERIALIZED (SELECT value, ${rank} - (${before}) AS skipped FROM value_at)`,
  );
}
