import { type EntityMetadata, FindOperator, type ObjectLiteral } from 'typeorm';
import { countedColumnsOf } from '../resource/resource.js';
import { searchedText } from './contains-words.js';
import { EVERY_OBJECT, type Facet } from './tally/facet.js';

/** A bound of a range of values. */
export interface Bound {
  readonly value: unknown;
  /** Whether the range contains the value itself. */
  readonly inclusive: boolean;
}

/** The values of one column between bounds. */
export interface ValueRange {
  readonly column: string;
  readonly lower?: Bound;
  readonly upper?: Bound;
}

/** What the conditions of a list say, if they only compare columns with values and search for words. */
export interface Criteria {
  /** The values that columns may have, without repetitions, by property name. */
  readonly equal: ReadonlyMap<string, readonly string[]>;
  /** Ranges of other columns. */
  readonly ranges: readonly ValueRange[];
  /** The search for words, in a column that is in neither of them. */
  readonly search?: Search;
}

/** A search for the words of a text. */
export interface Search {
  readonly column: string;
  readonly text: string;
}

/** The criteria of conditions; `undefined` if a condition says anything else. */
export function criteriaOf(conditions: readonly ObjectLiteral[]): Criteria | undefined {
  const equal = new Map<string, readonly string[]>();
  const ranges = new Map<string, ValueRange>();
  let search: Search | undefined;
  for (const [column, condition] of conditions.flatMap((each) => Object.entries(each))) {
    const text = searchedText(condition);
    if (text !== undefined && !search) {
      search = { column, text };
      continue;
    }
    const values = equalValues(condition);
    const range = values ? undefined : rangeOf(column, condition);
    if (values && !ranges.has(column)) {
      const others = equal.get(column);
      equal.set(column, others ? others.filter((value) => values.includes(value)) : values);
    } else if (range && !equal.has(column)) {
      const other = ranges.get(column);
      if ((other?.lower && range.lower) || (other?.upper && range.upper)) return undefined;
      ranges.set(column, { ...other, ...range });
    } else {
      return undefined;
    }
  }
  return { equal, ranges: [...ranges.values()], search };
}

/** Most facets that one list adds up. */
const MAXIMUM_FACETS = 1000;

/**
 * The facets that together consist of the objects with given values in columns; `undefined` if the
 * tally does not count this combination of columns.
 */
export function facetsOf(
  metadata: EntityMetadata,
  equal: Criteria['equal'],
): readonly Facet[] | undefined {
  if (equal.size === 0) return [EVERY_OBJECT];
  const columns = countedColumnsOf(metadata).find(
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

function rangeOf(column: string, condition: unknown): ValueRange | undefined {
  if (!(condition instanceof FindOperator)) return undefined;
  const value: unknown = condition.value;
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
    default:
      return undefined;
  }
}
