import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import {
  type ParameterSchema,
  parametersOf,
  schemaOf,
  separableValue,
  settingsFor,
} from '../http/parameters/declared-parameters.js';
import { DECLARED, type ListQueryClass } from '../list/query/query-of.js';
import { ListQueryDto } from '../list/query/list-query.dto.js';
import { searchParameterOf } from '../list/query/search-text.js';
import { columnTypeOf } from '../resource/column-values.js';
import { type FilterEnd, readingsOf } from '../resource/filter-forms.js';
import { identifierOf, nameOf, tableOf } from '../resource/resource.js';
import { parentColumnOf } from '../resource/relations.js';

type Row = Readonly<Record<string, unknown>>;

/** A filter with a value, and which objects it keeps. */
interface Trial {
  readonly value: string;
  readonly keeps: (row: Row) => boolean;
}

/** What the names of filters do not say. */
export interface NamedTrials {
  /** The filters whose condition neither their name nor their type says, each with a value and what it keeps. */
  readonly filters?: Readonly<Record<string, Trial>>;
  /** The column that `within` compares, if several refer to a tree. Default: the identifier of a tree. */
  readonly tree?: string;
}

/** A trial with the values that the filter refuses. */
export interface WholeTrial extends Trial {
  readonly bad: readonly string[];
}

/** The trials of a filter; `undefined` if its name says nothing. */
type Derive = (name: string, schema: ParameterSchema) => Trial[] | undefined | Promise<Trial[]>;

/**
 * Trials of every filter of a list. A filter is tried by its name, as the project names filters: `name` and `nameNot`
 * compare with the column `name`, and `nameAll` with each item of an array; `nameExists`, `nameMin` and `nameMax` say what
 * they are, `nameSince` and `nameUntil` compare with `nameAt`; `within` asks for a subtree, and a search for words. The value keeps about half of the objects.
 *
 * @throws Error for a filter that has no trial, or whose values keep all objects or none
 */
export async function trialsOf(
  dataSource: DataSource,
  metadata: EntityMetadata,
  query: ListQueryClass,
  rows: readonly Row[],
  { filters: named = {}, tree }: NamedTrials,
): Promise<Record<string, WholeTrial[]>> {
  const derive: readonly Derive[] = [
    (name) => (named[name] ? [named[name]] : undefined),
    (name) =>
      name === searchParameterOf(query.prototype) ? search(dataSource, metadata, rows) : undefined,
    (name) => (name === 'within' ? subtree(dataSource, metadata, rows, tree) : undefined),
    (name, schema) => comparison(metadata, rows, name, schema),
  ];
  const trials: Record<string, WholeTrial[]> = {};
  const inherited = parametersOf(ListQueryDto);
  for (const [name, parameter] of parametersOf(query)) {
    // The database sets updatedAt, so that no object can be chosen by it.
    const isOther = inherited.has(name) || DECLARED.some((each) => each === name);
    if (isOther || name.startsWith('updated')) continue;
    const schema = schemaOf(parameter, settingsFor({ maxLimit: 0 }, undefined));
    let derived: Trial[] | undefined;
    for (const each of derive) derived ??= await each(name, schema);
    if (!derived) {
      throw new Error(
        `The filter ${name} needs an entry in filters of describeList: its name is of no column`,
      );
    }
    const bad = [
      ...refused(schema),
      ...(name === searchParameterOf(query.prototype) ? [' - '] : []),
    ];
    trials[name] = derived.map((trial) => ({ ...trial, bad }));
  }
  return trials;
}

type Meaning = (found: unknown, value: unknown) => boolean;

/** What a filter means, by the end of its name. */
const MEANINGS: Readonly<Record<FilterEnd, Meaning>> = {
  '': isEqual,
  Not: (found, value) => !isEqual(found, value),
  All: isEqual,
  Exists: (found, value) => (Array.isArray(found) ? found.length > 0 : isPresent(found)) === value,
  Min: (found, value) => isPresent(found) && compare(found, value) >= 0,
  Max: (found, value) => isPresent(found) && compare(found, value) <= 0,
  Starts: (found, value) => isPresent(found) && String(found).startsWith(String(value)),
  Since: (found, value) => isPresent(found) && compare(found, value) >= 0,
  Until: (found, value) => isPresent(found) && compare(found, value) < 0,
};

function comparison(
  metadata: EntityMetadata,
  rows: readonly Row[],
  name: string,
  schema: ParameterSchema,
): Trial[] | undefined {
  for (const { end: suffix, column: property } of readingsOf(name)) {
    const column = metadata.findColumnWithPropertyName(property);
    if (!column || !rows.some((row) => property in row)) continue;
    const meaning = MEANINGS[suffix];
    const found = (row: Row): unknown => row[property] ?? null;
    if (suffix === 'Exists') {
      return [true, false].map((value) =>
        chosen(name, rows, [{ value: String(value), keeps: (row) => meaning(found(row), value) }]),
      );
    }
    const whole = [...new Set(rows.flatMap((row) => found(row)))].filter(isPresent);
    const values =
      suffix === 'Starts' ? whole.flatMap((value) => beginningsOf(String(value))) : whole;
    const single = values
      .filter((value) => isAccepted(String(value), schema))
      .map((value) => {
        const text = written(value, column, suffix);
        return {
          value: schema.type === 'array' ? separableValue(text) : text,
          keeps: (row: Row) => meaning(found(row), value),
        };
      });
    if (schema.type !== 'array') return [chosen(name, rows, single)];
    const several = single.map((first, at) => {
      const all = [first, ...single.slice(at + 1, at + 2)];
      const isAny = suffix === '';
      const isText = schema.items?.type === 'string' && schema.items.format === undefined;
      const unknown = suffix !== 'All' && isText && isAccepted('nowhere', schema);
      return {
        value: [...all.map(({ value }) => value), ...(unknown ? ['nowhere'] : [])].join(),
        keeps: (row: Row) =>
          isAny ? all.some(({ keeps }) => keeps(row)) : all.every(({ keeps }) => keeps(row)),
      };
    });
    // Two values of two keep everything.
    return [chosen(name, rows, [...several, ...single])];
  }
  return undefined;
}

/** The beginnings of a text that end with a whole character. */
function beginningsOf(text: string): string[] {
  return Array.from(text).map((_, at, characters) => characters.slice(0, at + 1).join(''));
}

/** A value as a client may write it, which is not always as it is stored. */
function written(value: unknown, column: ColumnMetadata, suffix: string): string {
  const isBound = suffix !== '' && columnTypeOf(column) === 'decimal';
  const text = String(value);
  return isBound ? `${text}${text.includes('.') ? '0' : '.0'}` : text;
}

/** The objects below one object of a tree, by a query in plain SQL. */
async function subtree(
  dataSource: DataSource,
  metadata: EntityMetadata,
  rows: readonly Row[],
  named?: string,
): Promise<Trial[]> {
  const trees = metadata.foreignKeys.filter(
    ({ referencedEntityMetadata: target }) => parentColumnOf(target) !== undefined,
  );
  // The resource itself, or another that it refers to.
  const key =
    trees.find(({ columns }) => columns[0]?.propertyName === named) ??
    trees.find(({ referencedEntityMetadata: target }) => target === metadata) ??
    trees[0];
  if (!key) throw new Error('The filter within needs an entry in filters: there is no tree');
  const tree = key.referencedEntityMetadata;
  const column = tree === metadata ? identifierOf(metadata) : key.columns[0];
  const property = column?.propertyName ?? '';
  const [table, name] = [tableOf(tree), identifierOf(tree).databaseName];
  const pairs = await dataSource.query<{ root: unknown; below: unknown }[]>(
    `WITH RECURSIVE pairs AS (
       SELECT "${name}" AS root, "${name}" AS below FROM ${table}
       UNION ALL
       SELECT root, "${name}" FROM ${table} JOIN pairs ON "${parentColumnOf(tree)}" = below
     ) SELECT root, below FROM pairs`,
  );
  const trials = [...new Set(pairs.map(({ root }) => root))].map((root) => {
    const below = new Set(pairs.filter((pair) => pair.root === root).map((pair) => pair.below));
    return { value: String(root), keeps: (row: Row) => below.has(row[property]) };
  });
  return [chosen('within', rows, trials)];
}

/** A search for a word of each of the texts that are searched, in another case. */
async function search(
  dataSource: DataSource,
  metadata: EntityMetadata,
  rows: readonly Row[],
): Promise<Trial[]> {
  const [{ columns } = { columns: [] }] = await dataSource.query<{ columns: string[] }[]>(
    'SELECT columns FROM searches WHERE resource = $1',
    [nameOf(metadata)],
  );
  const wordsOf = (row: Row): string[][] => columns.map((column) => words(row[column]));
  const trials = rows.map((row) => {
    const searched = wordsOf(row).flatMap((each) => each.slice(0, 1));
    return {
      value: searched.join(' ').toUpperCase(),
      keeps: (other: Row) => searched.every((word) => wordsOf(other).flat().includes(word)),
    };
  });
  return [chosen('a search', rows, trials)];
}

/** The words of a text, without their case and accents. */
function words(text: unknown): string[] {
  const folded = (typeof text === 'string' ? text : '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase();
  return folded.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

/** The trial that keeps about half of the objects. */
function chosen(name: string, rows: readonly Row[], trials: readonly Trial[]): Trial {
  const distance = ({ keeps }: Trial): number =>
    Math.abs(rows.filter(keeps).length - rows.length / 2);
  const [best] = trials.toSorted((one, other) => distance(one) - distance(other));
  if (best && distance(best) < rows.length / 2) return best;
  throw new Error(`No value of ${name} keeps some of the objects and not all: vary their values`);
}

/** Whether a parameter takes a value, or an array of it. */
function isAccepted(text: string, schema: ParameterSchema): boolean {
  const { items, maxLength = Infinity, minimum = -Infinity, pattern, enum: values } = schema;
  if (items) return !text.includes(',') && isAccepted(text, items);
  if (schema.type === 'integer' && Number(text) < minimum) return false;
  return (
    Array.from(text).length <= maxLength &&
    (pattern === undefined || new RegExp(pattern).test(text)) &&
    (values === undefined || values.includes(text))
  );
}

/** Values that a parameter refuses, by its type. */
function refused(schema: ParameterSchema): string[] {
  const { type, format, items, minimum, maxLength, enum: values } = schema;
  if (items) return [',', ...refused(items)];
  if (values) return ['nonsense', ...values.map((value) => `${value}x`).slice(0, 1)];
  if (type === 'boolean') return ['TRUE', 'yes', '0'];
  if (type === 'number') return ['NaN', 'Infinity', 'abc'];
  if (type === 'integer') return ['1.5', '1e3', 'abc', ...(minimum === 0 ? ['-1'] : [])];
  if (format !== undefined) return ['abc', ...(REFUSED[format] ?? [])];
  return maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)];
}

const REFUSED: Readonly<Partial<Record<string, readonly string[]>>> = {
  decimal: ['1e3', '1,5'],
  date: ['2023-02-29', '0000-01-01', '2024-02-28T00:00:00Z'],
  'date-time': ['2026-01-03', '2026-02-30T00:00:00Z'],
  int64: ['1.5'],
};

function isEqual(found: unknown, value: unknown): boolean {
  if (Array.isArray(found)) return found.includes(value);
  return isPresent(found) && (found === value || compare(found, value) === 0);
}

function isPresent(value: unknown): boolean {
  return value !== null && value !== undefined;
}

/** Compares numbers, decimals as text, and times in the format of the contract. */
function compare(one: unknown, other: unknown): number {
  const [first, second] = [String(one), String(other)];
  if (/^-?\d{16,}$/.test(first)) return Number(BigInt(first) - BigInt(second));
  const difference = Number(first) - Number(second);
  return Number.isNaN(difference)
    ? Buffer.compare(Buffer.from(first), Buffer.from(second))
    : difference;
}
