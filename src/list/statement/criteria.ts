import type { EntityMetadata } from 'typeorm';
import { COLUMN_TYPES } from '../../resource/column-types.js';
import { identifierFrom } from '../../resource/identifiers.js';
import { hasOwnTable } from '../../resource/own-table.js';
import type { Bound, Condition, WordSearch } from '../condition/condition.js';
import { EVERY_OBJECT, type Facet } from '../../tally/facet.js';
import { tallyOf } from '../../tally/described-tally.js';
import type { Tally } from '../../tally/tally.js';

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
  readonly search?: WordSearch;
  /** The item that an array has, as text. */
  readonly item?: Item;
}

/** An item of an array. */
export interface Item {
  readonly column: string;
  readonly value: string;
}

/** The first search among conditions that every object must meet. */
export function searchIn(conditions: readonly Condition[]): WordSearch | undefined {
  const found = conditions.find(({ kind }) => kind === 'words');
  return found?.kind === 'words' ? found.search : undefined;
}

const NOTHING: Criteria = { equal: new Map(), intervals: [], missing: [], excluded: new Map() };

/**
 * The criteria of conditions; `undefined` if a condition says anything else, or compares with a value that is
 * not written as PostgreSQL writes it: the tally compares texts.
 */
export function criteriaOf(
  conditions: readonly Condition[],
  metadata: Pick<EntityMetadata, 'findColumnWithPropertyName'>,
): Criteria | undefined {
  return conditions.reduce<Criteria | undefined>(
    (criteria, condition) => criteria && withCondition(criteria, condition, metadata),
    NOTHING,
  );
}

/**
 * Criteria with a further condition; `undefined` if they cannot say it. Several conditions on one column are values, or
 * bounds of an interval.
 */
function withCondition(
  criteria: Criteria,
  condition: Condition,
  metadata: Pick<EntityMetadata, 'findColumnWithPropertyName'>,
): Criteria | undefined {
  const { equal, intervals, missing, excluded } = criteria;
  const isNew = (column: string): boolean =>
    !equal.has(column) &&
    !excluded.has(column) &&
    ![...missing, ...intervals.map((each) => each.column)].includes(column);
  const withInterval = (interval: Interval): Criteria | undefined => {
    const { column, lower, upper } = interval;
    const others = intervals.filter((each) => each.column !== column);
    const same = intervals.find((each) => each.column === column);
    if (same ? (same.lower && lower) || (same.upper && upper) : !isNew(column)) return undefined;
    return { ...criteria, intervals: [...others, { ...same, ...interval }] };
  };
  switch (condition.kind) {
    case 'words': {
      const { column, search } = condition;
      return !criteria.search && isNew(column) ? { ...criteria, search } : undefined;
    }
    case 'equal':
    case 'not': {
      const { kind, column } = condition;
      const values = textsOf(column, condition.values, metadata);
      const before = kind === 'equal' ? equal.get(column) : undefined;
      if (!values || !(before ?? isNew(column))) return undefined;
      if (kind === 'not')
        return { ...criteria, excluded: new Map([...excluded, [column, values]]) };
      const both = before?.filter((value) => values.includes(value)) ?? values;
      return { ...criteria, equal: new Map([...equal, [column, both]]) };
    }
    case 'interval': {
      const { column, lower, upper } = condition;
      return withInterval({ column, ...(lower && { lower }), ...(upper && { upper }) });
    }
    case 'exists': {
      const { column, exists } = condition;
      if (exists) return withInterval({ column });
      return isNew(column) ? { ...criteria, missing: [...missing, column] } : undefined;
    }
    case 'comparison': {
      const { column, operator, value } = condition;
      // Of several items an object may have more than one, so that their counts do not add up.
      if (criteria.item || (operator !== '&&' && operator !== '@>') || !isNew(column)) {
        return undefined;
      }
      const [text, ...others] = textsOf(column, value as unknown[], metadata) ?? [];
      if (text === undefined || others.length > 0) return undefined;
      return { ...criteria, item: { column, value: text } };
    }
    case 'identifiers':
    case 'sql':
    case 'any':
    case 'negation':
      return undefined;
  }
}

/** Values as PostgreSQL writes them, without repetitions; `undefined` if one is written in another way. */
function textsOf(
  column: string,
  values: readonly unknown[],
  metadata: Pick<EntityMetadata, 'findColumnWithPropertyName'>,
): readonly string[] | undefined {
  const type = metadata.findColumnWithPropertyName(column)?.type;
  const areTexts = values.every(
    (value) =>
      ['string', 'number', 'boolean'].includes(typeof value) && isCanonical(type, String(value)),
  );
  return areTexts ? [...new Set(values.map(String))] : undefined;
}

function isCanonical(type: unknown, value: string): boolean {
  if (type === 'boolean') return value === 'true' || value === 'false';
  if (type === 'uuid') return identifierFrom(type, value) === value;
  return !INTEGERS.has(type) || /^(0|-?[1-9][0-9]*)$/.test(value);
}

const INTEGERS: ReadonlySet<unknown> = new Set([
  ...COLUMN_TYPES.integer.columnTypes,
  ...COLUMN_TYPES.bigint.columnTypes,
]);

/** Whether an interval has a bound. */
export function isBounded({ lower, upper }: Interval): boolean {
  return lower !== undefined || upper !== undefined;
}

/** Whether criteria say nothing but which values columns have. */
export function areEqualities({ intervals, missing, excluded, search, item }: Criteria): boolean {
  return intervals.length + missing.length + excluded.size === 0 && !search && !item;
}

/** The interval of criteria that say nothing else but which values columns have. */
export function onlyInterval(criteria: Criteria): Interval | undefined {
  const [interval, ...others] = criteria.intervals;
  return areEqualities({ ...criteria, intervals: others }) ? interval : undefined;
}

/** Whether criteria compare no column with values, but at most search for words. */
export function compareNothing({ equal, intervals, missing, excluded, item }: Criteria): boolean {
  return equal.size + intervals.length + missing.length + excluded.size === 0 && !item;
}

/** Most facets that one list adds up. */
const MAXIMUM_FACETS = 1000;

/**
 * The facets that together consist of the objects with given values in columns; `undefined` if the
 * tally does not count this combination of columns.
 *
 * @param order the order of the tally that is to be read. Default: that of the identifier
 */
export function facetsOf(
  metadata: EntityMetadata,
  equal: Criteria['equal'],
  order?: Pick<Tally, 'facets'>,
): readonly Facet[] | undefined {
  if (!hasOwnTable(metadata)) return undefined;
  if (equal.size === 0) return [EVERY_OBJECT];
  const columns = (order ?? tallyOf(metadata).byIdentifier).facets.find(
    (each) =>
      each.length === equal.size && each.every(({ propertyName }) => equal.has(propertyName)),
  );
  if (!columns) return undefined;
  let combinations: string[][] = [[]];
  for (const column of columns) {
    const values = equal.get(column.propertyName) ?? [];
    if (combinations.length * values.length > MAXIMUM_FACETS) return undefined;
    combinations = combinations.flatMap((before) => values.map((value) => [...before, value]));
  }
  return combinations.map((values) => ({ columns, values }));
}
