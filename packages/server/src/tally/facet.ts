import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ParameterValues } from '../database/statement.js';
import { textAbove } from '../resource/formats.js';
import type { Tally, TallyOrder, WordTally } from './described-tally.js';

/** The objects with one value in each of some counted columns. The tally counts them. */
export interface Facet {
  /** In the order in which the resource declares the combination. Empty for all objects. */
  readonly columns: readonly ColumnMetadata[];
  /** The value of each column, as text. */
  readonly values: readonly string[];
}

export const EVERY_OBJECT: Facet = { columns: [], values: [] };

/*
 * Everything of the service that makes or reads a name of a facet is here. The triggers make names by `tally_facet` of
 * `tally.sql`.
 */

/**
 * The name of a facet in the tally, by the names of the columns in the database: empty for all objects, `type=DIGITAL`,
 * or `categoryID+type=5:outdoDIGITAL`. Each value but the last follows its length in characters, since it may contain any
 * character.
 */
export function facetName({ columns, values }: Facet): string {
  if (columns.length === 0) return '';
  return `${namesOf(columns)}=${values.map((value, at) => sized(value, at < columns.length - 1)).join('')}`;
}

/** The names of columns in the database, as those of facets begin. */
export function namesOf(columns: readonly ColumnMetadata[]): string {
  return joined(columns.map(({ databaseName }) => databaseName));
}

/** The names of columns as one, such as `categoryID+type`. */
export function joined(names: readonly string[]): string {
  return names.join('+');
}

/** The names of columns that `joined` made one. */
export function separated(names: string): string[] {
  return names.split('+');
}

/** SQL for whether the column `facet` is of a combination of columns. */
export const IS_COMBINED_FACET = `strpos(split_part(facet, '=', 1), '+') > 0`;

/** The parameter with the names of facets. */
export function facetNames(facets: readonly Facet[], values: ParameterValues): string {
  return values.addTyped(facets.map(facetName), 'text[]');
}

function sized(value: string, isFollowed: boolean): string {
  return isFollowed ? `${Array.from(value).length}:${value}` : value;
}

/**
 * The bounds of the names of the facets that differ only in the value of the last column: the first inclusive, the second
 * exclusive. Names are compared byte by byte, so that no other facet is between them. The first one is what all of these
 * names begin with: see `lastValue`.
 */
export function facetBounds(
  columns: readonly ColumnMetadata[],
  values: readonly string[] = [],
): [first: string, end: string] {
  const first = facetName({ columns, values: [...values.slice(0, columns.length - 1), ''] });
  const end = textAbove(first);
  if (end === undefined) throw new TypeError('No text is above every text');
  return [first, end];
}

/** SQL for the last value in the column `facet`, by the SQL for the first of the bounds that it is between. */
export function lastValue(first: string): string {
  return `substr(facet, length(${first}) + 1)`;
}

/** The parts of the name of a facet before and behind one of its values, which is not the last one. */
export function aroundValue(
  { columns, values }: Facet,
  at: number,
): [before: string, behind: string] {
  const before = facetName({ columns, values: values.slice(0, at) });
  const behind = values
    .slice(at + 1)
    .map((value, next) => sized(value, at + 1 + next < columns.length - 1));
  return [before, behind.join('')];
}

/** SQL for the name of a facet by its parts of `aroundValue` and the value between them. */
export function facetAround(before: string, value: string, behind: string): string {
  return `${before} || length(${value}) || ':' || ${value} || ${behind}`;
}

/** The values of a facet by the names of its columns in the database, from its name. */
export function facetValues(name: string): [column: string, value: string][] {
  if (name === '') return [];
  const equals = name.indexOf('=');
  const columns = separated(name.slice(0, equals));
  let rest = Array.from(name.slice(equals + 1));
  return columns.map((column, at) => {
    if (at === columns.length - 1) return [column, rest.join('')];
    const colon = rest.indexOf(':');
    const end = colon + 1 + Number(rest.slice(0, colon).join(''));
    const value = rest.slice(colon + 1, end).join('');
    rest = rest.slice(end);
    return [column, value];
  });
}

/** A subquery of every row of a tally and its deltas. */
export function tallyRows({ tally, deltas }: Tally, where = ''): string {
  return `(SELECT * FROM ${tally} ${where} UNION ALL SELECT * FROM ${deltas} ${where}) every`;
}

/**
 * An SQL expression for the number of objects of facets, as a number.
 *
 * @param parameter the SQL parameter that holds the names of the facets
 */
export function countOf(order: TallyOrder, parameter: string): string {
  return countWhere(order, `facet = ANY(${parameter})`);
}

/** An SQL expression for the number of objects with a value in a column: those of the facets of every value. */
export function countOfColumn(
  order: TallyOrder,
  column: ColumnMetadata,
  values: ParameterValues,
): string {
  const [first, end] = facetBounds([column]).map((bound) => values.add(bound));
  return countWhere(order, `facet >= ${first} AND facet < ${end}`);
}

/** An SQL expression for the number of objects in the rows of a tally that meet a condition. */
export function countWhere({ tally, deltas }: Tally, condition: string): string {
  const [tallied, since] = [tally, deltas].map(
    (table) => `(SELECT coalesce(sum(count), 0) FROM ${table} WHERE ${condition})`,
  );
  return `(${tallied} + ${since})`;
}

/**
 * An SQL expression for the number of objects of facets that contain the words of a text. It is null
 * unless that is one word, and a counted one.
 *
 * @param inTitle whether their titles contain it
 */
export function wordCountOf(
  wordTally: WordTally,
  text: string,
  inTitle: boolean,
  facets: readonly Facet[],
  values: ParameterValues,
): string {
  const names = facetNames(facets, values);
  const count = countWhere(wordTally, `word = counted.word AND facet = ANY(${names})`);
  return `(SELECT ${count} FROM (${countedWord(wordTally, text, inTitle, values)}) counted)`;
}

/** A query of the `word` of a text. It is empty unless that is one word, and a counted one. */
export function countedWord(
  { words }: WordTally,
  text: string,
  inTitle: boolean,
  values: ParameterValues,
): string {
  return `SELECT word FROM ${words} counted
    WHERE is_counted AND (SELECT search_lexemes(${values.add(text)}, ${inTitle})) = ARRAY[counted.word]`;
}

/**
 * A query for the text of another one, as `recount`. That one counts the objects of an order: the columns `key`, and the
 * number of objects.
 *
 * @param isCounted whether it counts the counted words, or those that are not counted yet
 * @param which a condition on the objects, as SQL
 */
export function recountOf(
  { tally }: Tally,
  isCounted = true,
  which = 'true',
): [text: string, values: unknown[]] {
  return [
    `SELECT tally_recount(orders, $2, $3) AS recount FROM tally_orders orders WHERE format('"%s"', tally) = $1`,
    [tally, isCounted, which],
  ];
}
