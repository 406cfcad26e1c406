import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ParameterValues } from '../database/statement.js';
import { type Facet, facetBounds, facetNames } from './facet.js';

/** A table of counts in one order, and that of the changes since. */
export interface Tally {
  /** As in the view `tally_orders`. */
  readonly kind: 'identifiers' | 'values' | 'cells' | 'words' | 'items';
  /** The tables, quoted. */
  readonly tally: string;
  readonly deltas: string;
  /** The columns that identify a row of the tally. */
  readonly key: string;
  /** The sorted or searched column, or the array; absent: the order of the identifier. */
  readonly column?: ColumnMetadata;
  /** The columns of its facets, besides that of all objects. Of an array, its items. */
  readonly facets: readonly (readonly ColumnMetadata[])[];
}

/**
 * An order in which the tally of a resource keeps ranges: by identifier, or by a sorted column and then
 * by identifier. The tally in the order of a column leaves out objects without a value.
 */
export interface TallyOrder extends Tally {
  readonly identifier: ColumnMetadata;
  /** The columns of the tables that name a range within its facet: `lowest`, or `value, lowest`. */
  readonly rangeKey: string;
  /** `rangeKey` for ORDER BY. The first range has no `value`. */
  readonly rangeKeyOrder: string;
}

/** The numbers of objects with an item of a counted array, by item and facet, and of those without one, whose word is null. */
export interface ItemTally extends Tally {
  readonly column: ColumnMetadata;
}

/** The numbers of objects in each cell of a column, by cell and facet. */
export interface CellTally extends ItemTally {
  /** The table of the lowest values of cells, quoted. */
  readonly bounds: string;
}

/** The numbers of objects with a common word in a searched column, by word and facet. */
export interface WordTally extends ItemTally {
  /** The table of the words that are counted, quoted. */
  readonly words: string;
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
