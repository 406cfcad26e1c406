import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { columnOf, isBroad, singleCountedColumnsOf } from '../../resource/resource.js';
import { type Criteria, type Interval, isBounded, onlyInterval } from './criteria.js';
import type { IndexChoice } from './matching-objects.js';
import { and } from '../condition/print.js';
import { conditionsBy, isCarriedBy, type PlannedComparison } from './planned-comparisons.js';
import { countOfFacets, sortedObjects } from './tallied-counts.js';
import { sortedOrder, tallyRows } from '../../tally/tally.js';

/** An interval among the objects with one value of a column. An index finds the objects by either. */
export interface IntervalWithinValue {
  readonly interval: Interval;
  /** The column, such as a category. */
  readonly column: string;
  readonly value: string;
}

/**
 * The interval and the value of conditions that say nothing else but values of broad columns. `undefined` if they
 * say anything else, the tally does not count such objects, or one of both indexes does not carry every column.
 */
export function intervalWithinValue(
  metadata: EntityMetadata,
  criteria: Criteria,
): IntervalWithinValue | undefined {
  const { equal } = criteria;
  const interval = onlyInterval(criteria);
  if (!interval || !isBounded(interval)) return undefined;
  if (!sortedObjects(metadata, interval.column, criteria)?.isNarrow) return undefined;
  const [narrow, ...more] = [...equal].filter(([name]) => !isBroad(metadata, name));
  if (!narrow || more.length > 0) return undefined;
  const [column, [value, ...several]] = narrow;
  if (value === undefined || several.length > 0) return undefined;
  if (!singleCountedColumnsOf(metadata).includes(column)) return undefined;
  const compared = [...equal.keys(), interval.column];
  const isCarried = [column, interval.column].every((first) =>
    compared.every(isCarriedBy(metadata, first)),
  );
  return isCarried ? { interval, column, value } : undefined;
}

/** Compares how many objects have the value with how many are in the interval, whatever else they have. */
export function indexChoice(
  metadata: EntityMetadata,
  { interval, column, value }: IntervalWithinValue,
  comparisons: readonly PlannedComparison[],
  values: ParameterValues,
): IndexChoice {
  const compared = columnOf(metadata, column);
  const withValue = countOfFacets(metadata, [{ columns: [compared], values: [value] }], values);
  const { tables, count } = objectsInRanges(metadata, interval, values);
  const equality = `(${values.addTyped(value, sqlTypeOf(compared))})`;
  const reference = `object."${compared.databaseName}"`;
  const others = comparisons.filter((comparison) => comparison.column !== column);
  // The planner expects few objects between two bounds that it does not know. It expects too many for an
  // equality if the column has few values, and for one bound: then it would read the whole table.
  const byValue = and(
    conditionsBy(others, () => false),
    `${reference} >= ${equality}`,
    `${reference} <= ${equality}`,
  );
  const byInterval = and(
    conditionsBy(comparisons, (comparison) => comparison.column === interval.column),
    ...missingBound(metadata, interval),
  );
  const rarer = `rarer AS MATERIALIZED (
      SELECT ${count} < ${withValue} AS is_interval
    )`;
  return { tables: [...tables, rarer], byValue, byInterval };
}

/** A comparison with the first or last value of the column, if the interval has no such bound. */
function missingBound(metadata: EntityMetadata, { column, lower, upper }: Interval): string[] {
  if (lower && upper) return [];
  const name = columnOf(metadata, column).databaseName;
  const [operator, order] = lower ? ['<=', 'DESC'] : ['>=', 'ASC'];
  const end = `SELECT "${name}" FROM object every WHERE "${name}" IS NOT NULL ORDER BY "${name}" ${order} LIMIT 1`;
  return [`object."${name}" ${operator} (${end})`];
}

/**
 * The number of all objects in the ranges of the tally that overlap an interval, as an SQL expression: at least as
 * many as are in the interval.
 *
 * @returns `tables`: the common table expressions that it refers to
 */
function objectsInRanges(
  metadata: EntityMetadata,
  { column, lower, upper }: Interval,
  values: ParameterValues,
): { tables: string[]; count: string } {
  const order = sortedOrder(metadata, columnOf(metadata, column));
  const type = sqlTypeOf(columnOf(metadata, column));
  const tables: string[] = [];
  const conditions = [`facet = ''`];
  // The first range of a facet has no value.
  if (upper) {
    const bound = values.addTyped(upper.value, type);
    conditions.push(`(value IS NULL OR value ${upper.inclusive ? '<=' : '<'} ${bound})`);
  }
  if (lower) {
    const bound = values.addTyped(lower.value, type);
    tables.push(
      `first_range AS MATERIALIZED (
        SELECT value, lowest FROM ${order.tally}
        WHERE facet = '' AND value ${lower.inclusive ? '<' : '<='} ${bound}
        ORDER BY facet DESC, value DESC NULLS LAST, lowest DESC LIMIT 1
      )`,
    );
    conditions.push(
      `((value, lowest) >= (SELECT value, lowest FROM first_range)
        OR NOT EXISTS (SELECT FROM first_range))`,
    );
  }
  const rows = tallyRows(order, and('', ...conditions));
  return { tables, count: `(SELECT coalesce(sum(count), 0) FROM ${rows})` };
}
