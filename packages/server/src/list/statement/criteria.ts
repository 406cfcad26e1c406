import type { EntityMetadata } from 'typeorm';
import { COLUMN_TYPES } from '../../resource/column-types.js';
import { identifierFrom } from '../../resource/formats.js';
import { hasOwnTable } from '../../resource/resource.js';
import type { Bound, Condition, WordSearch } from '../condition/condition.js';
import { EVERY_OBJECT, type Facet } from '../../tally/facet.js';
import { type Tally, tallyOf } from '../../tally/described-tally.js';

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
  /** The item that an array has. */
  readonly item?: Item;
  /** The item that an array does not have. */
  readonly lacking?: Item;
}

export interface Item {
  readonly column: string;
  /** As text. Null stands for no item: an array that is null or empty has this one alone. */
  readonly value: string | null;
}

type Columns = Pick<EntityMetadata, 'findColumnWithPropertyName'>;

/** The first search among conditions that every object must meet. */
export function searchIn(conditions: readonly Condition[]): WordSearch | undefined {
  return conditions.find((condition) => condition.kind === 'words')?.search;
}

/**
 * The criteria of conditions; `undefined` if a condition says anything else, or compares with a value that is
 * not written as PostgreSQL writes it: the tally compares texts.
 */
export function criteriaOf(
  conditions: readonly Condition[],
  metadata: Columns,
): Criteria | undefined {
  const read: Read = {
    equal: new Map(),
    intervals: new Map(),
    missing: new Set(),
    excluded: new Map(),
  };
  if (!conditions.every((condition) => adds(read, condition, metadata))) return undefined;
  return { ...read, intervals: [...read.intervals.values()], missing: [...read.missing] };
}

/** Criteria of the conditions that are read so far. */
interface Read {
  readonly equal: Map<string, readonly string[]>;
  readonly intervals: Map<string, Interval>;
  readonly missing: Set<string>;
  readonly excluded: Map<string, readonly string[]>;
  search?: WordSearch;
  item?: Item;
  lacking?: Item;
}

/** Adds a condition. Returns whether criteria can say it beside the others. */
function adds(read: Read, condition: Condition, metadata: Columns): boolean {
  const { equal, intervals, missing, excluded } = read;
  /** Several conditions on one column are values, or bounds of an interval. */
  const isNew = (column: string, same?: ReadonlyMap<string, unknown>): boolean =>
    [equal, intervals, missing, excluded].every((each) => each === same || !each.has(column));
  switch (condition.kind) {
    case 'words':
      if (read.search || !isNew(condition.column)) return false;
      read.search = condition.search;
      return true;
    case 'equal':
    case 'not': {
      const { kind, column } = condition;
      const values = textsOf(condition.column, condition.values, metadata);
      if (!values || !isNew(column, kind === 'equal' ? equal : undefined)) return false;
      const before = equal.get(column);
      if (kind === 'not') excluded.set(column, values);
      else equal.set(column, before ? before.filter((value) => values.includes(value)) : values);
      return true;
    }
    case 'interval': {
      const { column, lower, upper } = condition;
      const other = intervals.get(column);
      if (!isNew(column, intervals) || (other?.lower && lower) || (other?.upper && upper)) {
        return false;
      }
      intervals.set(column, { ...other, column, ...(lower && { lower }), ...(upper && { upper }) });
      return true;
    }
    case 'exists': {
      const { column, exists } = condition;
      if (!isNew(column, exists ? intervals : undefined)) return false;
      if (exists) intervals.set(column, { column, ...intervals.get(column) });
      else missing.add(column);
      return true;
    }
    case 'comparison': {
      const { column, operator, value } = condition;
      if (operator !== '&&' && operator !== '@>') return false;
      return isNew(column) && addItem(read, 'item', column, onlyItem(column, value, metadata));
    }
    case 'lacks': {
      const { column, items } = condition;
      return isNew(column) && addItem(read, 'lacking', column, onlyItem(column, items, metadata));
    }
    case 'filled': {
      const { column, isFilled } = condition;
      return isNew(column) && addItem(read, isFilled ? 'lacking' : 'item', column, null);
    }
    case 'identifiers':
    case 'sql':
    case 'any':
    case 'negation':
      return false;
  }
}

/** Adds an item that an array has, or lacks. Returns whether criteria can say it: it is one, and the only one. */
function addItem(
  read: Read,
  as: 'item' | 'lacking',
  column: string,
  value: string | null | undefined,
): boolean {
  if (value === undefined || read[as]) return false;
  read[as] = { column, value };
  return true;
}

/**
 * The only one of an array of items, as text; `undefined` if they are several: an object may have more than one of them, so that
 * their counts do not add up.
 */
function onlyItem(column: string, items: unknown, metadata: Columns): string | undefined {
  const [text, ...others] = textsOf(column, items as readonly unknown[], metadata) ?? [];
  return others.length > 0 ? undefined : text;
}

/** Values as PostgreSQL writes them, without repetitions; `undefined` if one is written in another way. */
function textsOf(
  column: string,
  values: readonly unknown[],
  metadata: Columns,
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
export function areEqualities({
  intervals,
  missing,
  excluded,
  search,
  item,
  lacking,
}: Criteria): boolean {
  const isAny = intervals.length + missing.length + excluded.size > 0;
  return !isAny && !search && !item && !lacking;
}

/** The interval of criteria that say nothing else but which values columns have. */
export function onlyInterval(criteria: Criteria): Interval | undefined {
  const [interval, ...others] = criteria.intervals;
  return areEqualities({ ...criteria, intervals: others }) ? interval : undefined;
}

/** Whether criteria compare no column with values, but at most search for words. */
export function compareNothing(criteria: Criteria): boolean {
  return criteria.equal.size === 0 && areEqualities({ ...criteria, search: undefined });
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
