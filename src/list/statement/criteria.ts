import {
  type EntityMetadata,
  FindOperator,
  type FindOperatorType,
  type ObjectLiteral,
} from 'typeorm';
import { COLUMN_TYPES } from '../../resource/column-types.js';
import { identifierFrom } from '../../resource/identifiers.js';
import { countedColumnsOf, isTallied } from '../../resource/resource.js';
import { alternativesOf } from '../listing/alternatives.js';
import { type WordSearch, wordSearchOf } from '../listing/contains-words.js';
import { EVERY_OBJECT, type Facet } from '../tally/facet.js';

/** A bound of an interval. */
export interface Bound {
  readonly value: unknown;
  /** Whether the interval contains the value itself. */
  readonly inclusive: boolean;
}

/** The values of one column between bounds. Without bounds, all of them: the column has a value. */
export interface Interval {
  readonly column: string;
  readonly lower?: Bound;
  readonly upper?: Bound;
}

/** What the conditions of a list say, if they only compare columns with values and search for words. */
export interface Criteria {
  /** The values that columns may have, without repetitions, by property name. */
  readonly equal: ReadonlyMap<string, readonly string[]>;
  /** Intervals of other columns. */
  readonly intervals: readonly Interval[];
  /** Further columns, which have no value. */
  readonly missing: readonly string[];
  /** The values that further columns do not have, without repetitions. They may have no value. */
  readonly excluded: ReadonlyMap<string, readonly string[]>;
  /** The search for words. Its column is in none of the other members. */
  readonly search?: Search;
}

/** A search for the words of a text in a column. */
export interface Search extends WordSearch {
  readonly column: string;
}

/** The first search among conditions that every object must meet. */
export function searchIn(conditions: readonly ObjectLiteral[]): Search | undefined {
  const required = conditions.filter((condition) => alternativesOf(condition).length === 1);
  for (const [column, condition] of entriesOf(required)) {
    const search = wordSearchOf(condition);
    if (search) return { ...search, column };
  }
  return undefined;
}

/**
 * The criteria of conditions; `undefined` if a condition says anything else, or compares with a value that is
 * not written as PostgreSQL writes it: the tally compares texts.
 */
export function criteriaOf(
  conditions: readonly ObjectLiteral[],
  metadata: Pick<EntityMetadata, 'findColumnWithPropertyName'>,
): Criteria | undefined {
  // Each condition by itself: of values that two have in common, one may be written in another way.
  const isCanonical = conditions.flatMap(alternativesOf).every((condition) =>
    Object.entries(condition).every(([name, compared]: [string, unknown]) => {
      const type = metadata.findColumnWithPropertyName(name)?.type;
      const values = equalValues(compared) ?? excludedValues(compared) ?? [];
      return values.every((value) => isCanonicalText(type, value));
    }),
  );
  return isCanonical ? readCriteria(conditions) : undefined;
}

function isCanonicalText(type: unknown, value: string): boolean {
  if (type === 'boolean') return value === 'true' || value === 'false';
  if (type === 'uuid') return identifierFrom(type, value) === value;
  return !INTEGERS.has(type) || /^(0|-?[1-9][0-9]*)$/.test(value);
}

const INTEGERS: ReadonlySet<unknown> = new Set([
  ...COLUMN_TYPES.integer.columnTypes,
  ...COLUMN_TYPES.bigint.columnTypes,
]);

function readCriteria(conditions: readonly ObjectLiteral[]): Criteria | undefined {
  const equal = new Map<string, readonly string[]>();
  const intervals = new Map<string, Interval>();
  const missing = new Set<string>();
  const excluded = new Map<string, readonly string[]>();
  let search: Search | undefined;
  if (conditions.some((condition) => alternativesOf(condition).length > 1)) return undefined;
  for (const [column, condition] of entriesOf(conditions)) {
    const found = wordSearchOf(condition);
    if (found && !search) {
      search = { ...found, column };
      continue;
    }
    if ([missing, excluded].some((columns) => columns.has(column))) return undefined;
    const values = equalValues(condition);
    const before = equal.get(column);
    if (values && !intervals.has(column)) {
      equal.set(column, before ? before.filter((value) => values.includes(value)) : values);
      continue;
    }
    if (before) return undefined;
    const interval = intervalOf(column, condition);
    if (interval) {
      const other = intervals.get(column);
      if ((other?.lower && interval.lower) || (other?.upper && interval.upper)) return undefined;
      intervals.set(column, { ...other, ...interval });
      continue;
    }
    if (intervals.has(column)) return undefined;
    const others = excludedValues(condition);
    if (others) excluded.set(column, others);
    else if (isOperator(condition, 'isNull')) missing.add(column);
    else return undefined;
  }
  return { equal, intervals: [...intervals.values()], missing: [...missing], excluded, search };
}

/** What conditions say of each column. */
function entriesOf(conditions: readonly ObjectLiteral[]): [column: string, condition: unknown][] {
  return conditions.flatMap(alternativesOf).flatMap((each) => Object.entries(each));
}

/** Whether an interval has a bound. */
export function isBounded({ lower, upper }: Interval): boolean {
  return lower !== undefined || upper !== undefined;
}

/** Whether criteria say nothing but which values columns have. */
export function areEqualities({ intervals, missing, excluded, search }: Criteria): boolean {
  return intervals.length + missing.length + excluded.size === 0 && !search;
}

/** Whether criteria compare no column with values, but at most search for words. */
export function compareNothing({ equal, intervals, missing, excluded }: Criteria): boolean {
  return equal.size + intervals.length + missing.length + excluded.size === 0;
}

/** Most facets that one list adds up. */
const MAXIMUM_FACETS = 1000;

/**
 * The facets that together consist of the objects with given values in columns; `undefined` if the
 * tally does not count this combination of columns.
 *
 * @param counted the combinations that the tally has in the order that is to be read
 */
export function facetsOf(
  metadata: EntityMetadata,
  equal: Criteria['equal'],
  counted = countedColumnsOf(metadata),
): readonly Facet[] | undefined {
  if (!isTallied(metadata)) return undefined;
  if (equal.size === 0) return [EVERY_OBJECT];
  const columns = counted.find(
    (names) => names.length === equal.size && names.every((name) => equal.has(name)),
  );
  if (!columns) return undefined;
  let combinations: string[][] = [[]];
  for (const column of columns) {
    const values = equal.get(column) ?? [];
    if (combinations.length * values.length > MAXIMUM_FACETS) return undefined;
    combinations = combinations.flatMap((before) => values.map((value) => [...before, value]));
  }
  return combinations.map((values) => ({ columns, values }));
}

/** The values that a condition allows, if it is an equality with one value or one of several. */
function equalValues(condition: unknown): readonly string[] | undefined {
  if (condition instanceof FindOperator) {
    const operand: unknown = condition.value;
    if (condition.type === 'equal') return equalValues(operand);
    if (condition.type !== 'any' && condition.type !== 'in') return undefined;
    if (!Array.isArray(operand)) return undefined;
    const values = operand.map(equalValues);
    return values.every((value) => value !== undefined) ? [...new Set(values.flat())] : undefined;
  }
  return ['string', 'number', 'boolean'].includes(typeof condition)
    ? [String(condition)]
    : undefined;
}

/**
 * The values that a condition excludes, if it is `NOT (column = ANY (values)) OR column IS NULL`. The first
 * part alone is not true of an object without a value.
 */
export function excludedValues(condition: unknown): readonly string[] | undefined {
  if (!isOperator(condition, 'or') || !Array.isArray(condition.value)) return undefined;
  const [exclusion, missing, ...others] = condition.value as readonly unknown[];
  if (others.length > 0 || !isOperator(missing, 'isNull') || !isOperator(exclusion, 'not')) {
    return undefined;
  }
  return isOperator(exclusion.child, 'any') ? equalValues(exclusion.child) : undefined;
}

function isOperator(
  condition: unknown,
  type: FindOperatorType,
): condition is FindOperator<unknown> {
  return condition instanceof FindOperator && condition.type === type;
}

function intervalOf(column: string, condition: unknown): Interval | undefined {
  if (!(condition instanceof FindOperator)) return undefined;
  const value: unknown = condition.value;
  const bounds: unknown[] = Array.isArray(value) ? value : [value];
  // Nothing is more or less than null. Without a bound, the interval would be all values.
  if (condition.type !== 'not' && bounds.some((bound) => bound === undefined || bound === null)) {
    return undefined;
  }
  switch (condition.type) {
    case 'moreThan':
    case 'moreThanOrEqual':
      return { column, lower: { value, inclusive: condition.type === 'moreThanOrEqual' } };
    case 'lessThan':
    case 'lessThanOrEqual':
      return { column, upper: { value, inclusive: condition.type === 'lessThanOrEqual' } };
    case 'between': {
      const [lower, upper] = value as readonly unknown[];
      return {
        column,
        lower: { value: lower, inclusive: true },
        upper: { value: upper, inclusive: true },
      };
    }
    case 'not':
      return isOperator(condition.child, 'isNull') ? { column } : undefined;
    default:
      return undefined;
  }
}
