import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../database/statement.js';
import { sqlTypeOf } from '../resource/column-values.js';
import { columnOf, singleCountedColumnsOf } from '../resource/resource.js';
import { areEqualities, type Criteria, type Interval, isBounded } from './criteria.js';
import type { RarerWay } from './matching-objects.js';
import { and } from './picked-objects.js';
import { type Comparison, conditionsBy, isCarriedBy } from './planned-comparisons.js';
import { sortedObjects } from './tallied-counts.js';
import { EVERY_OBJECT, facetName } from './tally/facet.js';
import { countOf, identifierOrder, isBroad, sortedOrder, tallyRows } from './tally/tally.js';

/** An interval among the objects with one value of a column, by either of which an index finds few objects. */
export interface IntervalWithinValue {
  readonly interval: Interval;
  /** The column, such as a category. */
  readonly column: string;
  readonly value: string;
}

/**
 * The same, if the conditions say nothing else but values of broad columns, the tally knows how many objects
 * match, and both indexes carry every column.
 */
export function intervalWithinValue(
  metadata: EntityMetadata,
  criteria: Criteria,
): IntervalWithinValue | undefined {
  const { equal, intervals } = criteria;
  const [interval, ...others] = intervals;
  if (!interval || others.length > 0 || !isBounded(interval)) return undefined;
  if (!areEqualities({ ...criteria, intervals: [] })) return undefined;
  if (!sortedObjects(metadata, interval.column, criteria)?.isNarrow) return undefined;
  const [narrow, ...more] = [...equal].filter(([name]) => !isBroad(metadata, name));
  if (!narrow || more.length > 0) return undefined;
  const [column, [value, ...several]] = narrow;
  if (value === undefined || several.length > 0) return undefined;
  if (!singleCountedColumnsOf(metadata).includes(column)) return undefined;
  const compared = [...equal.keys(), interval.column].map((name) => ({ column: name }));
  const isCarried = [column, interval.column].every((first) =>
    compared.every(isCarriedBy(metadata, first)),
  );
  return isCarried ? { interval, column, value } : undefined;
}

/** Compares how many objects have the value with how many are in the interval, whatever else they have. */
export function rarerWay(
  metadata: EntityMetadata,
  { interval, column, value }: IntervalWithinValue,
  comparisons: readonly Comparison[],
  values: ParameterValues,
): RarerWay {
  const facet = values.addTyped([facetName({ columns: [column], values: [value] })], 'text[]');
  const only = (name: string): string =>
    conditionsBy(comparisons, (comparison) => comparison.column === name);
  return {
    table: `rarer AS MATERIALIZED (
      SELECT ${objectsInRanges(metadata, interval, values)}
        < ${countOf(identifierOrder(metadata), facet)} AS is_interval
    )`,
    byValue: only(column),
    byInterval: only(interval.column),
  };
}

/**
 * An SQL expression for the number of all objects in the ranges of the tally that an interval of a sorted column
 * is in: at least as many as are in the interval.
 */
function objectsInRanges(
  metadata: EntityMetadata,
  { column, lower, upper }: Interval,
  values: ParameterValues,
): string {
  const order = sortedOrder(metadata, columnOf(metadata, column));
  const type = sqlTypeOf(columnOf(metadata, column));
  const isOfEvery = `facet = ${values.addTyped(facetName(EVERY_OBJECT), 'text')}`;
  const conditions = [isOfEvery];
  if (upper) conditions.push(`(value IS NULL OR value <= ${values.addTyped(upper.value, type)})`);
  if (lower) {
    // Of the range that the lower bound is in. The first range has no value.
    const first = `(SELECT max(value) FROM ${order.tally}
      WHERE ${isOfEvery} AND value < ${values.addTyped(lower.value, type)})`;
    conditions.push(`coalesce(value >= ${first}, ${first} IS NULL)`);
  }
  return `(SELECT coalesce(sum(count), 0) FROM ${tallyRows(order, and('', ...conditions))})`;
}
