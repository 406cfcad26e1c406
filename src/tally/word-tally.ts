import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ParameterValues } from '../database/statement.js';
import { declaredColumns } from '../resource/declaration.js';
import { columnOf, singleCountedColumnsOf } from '../resource/resource.js';
import { type Facet, facetNames, namesOf } from './facet.js';
import { itemFacetColumnsOf, type Tally } from './tally.js';

/** The numbers of objects with an item of a counted array, by item and facet. */
export interface ItemTally extends Tally {
  readonly column: ColumnMetadata;
}

/** The numbers of objects with a common word in a searched column, by word and facet. */
export interface WordTally extends ItemTally {
  /** The table of the words that are counted, quoted. */
  readonly words: string;
}

/** The tallies of a resource by words, one for each searched column. */
export function wordTallies(metadata: EntityMetadata): WordTally[] {
  return declaredColumns(metadata).searched.map((name) => {
    const tally = itemTally(metadata, name);
    return { ...tally, words: `${tally.tally.slice(0, -1)}_counted"` };
  });
}

/** The tallies of a resource by items, one for each counted array. */
export function itemTallies(metadata: EntityMetadata): ItemTally[] {
  return declaredColumns(metadata).items.map((name) => itemTally(metadata, name));
}

/** The tally of the items of an array; `undefined` if they are not counted. */
export function itemTallyOf(metadata: EntityMetadata, name: string): ItemTally | undefined {
  return declaredColumns(metadata).items.includes(name) ? itemTally(metadata, name) : undefined;
}

function itemTally(metadata: EntityMetadata, name: string): ItemTally {
  const column = columnOf(metadata, name);
  const table = `${metadata.tableName}_tally_by_${column.databaseName}`;
  return { column, tally: `"${table}"`, deltas: `"${table}_deltas"`, key: 'word, facet' };
}

/** The tally that knows the counts of a search; `undefined` if none does, as for a beginning of a word. */
export function wordTallyOf(
  metadata: EntityMetadata,
  { column, beginnings }: { readonly column: string; readonly beginnings: readonly string[] },
): WordTally | undefined {
  if (beginnings.length > 0) return undefined;
  return wordTallies(metadata).find((each) => each.column.databaseName === column);
}

/**
 * A query for the text of another one, as `sums`. That one counts the objects that contain some words, by
 * word and facet. Its columns are `#word`, `facet` and `total`.
 *
 * @param isCounted whether it counts the counted words, or those that are not counted yet
 */
export function wordSums(
  metadata: EntityMetadata,
  { column, words }: WordTally,
  isCounted: boolean,
): SumsQuery {
  const single = singleCountedColumnsOf(metadata).map((name) => [columnOf(metadata, name)]);
  return sumsOf(
    metadata,
    column,
    single,
    `unnest(tsvector_to_array(object."${column.databaseName}")) lexemes("#word")
     JOIN ${words} chosen ON chosen.word = "#word" AND chosen.is_counted = ${String(isCounted)}`,
  );
}

/** As `wordSums`, for the items of an array. */
export function itemSums(metadata: EntityMetadata, { column }: ItemTally): SumsQuery {
  const { databaseName } = column;
  const items = itemsOf(`object."${databaseName}"`, '"#word"');
  return sumsOf(metadata, column, itemFacetColumnsOf(metadata), items);
}

/** The items of an array as a table in FROM, each once, as texts. */
export function itemsOf(reference: string, name: string): string {
  return `(SELECT DISTINCT item::text FROM unnest(${reference}) item WHERE item IS NOT NULL) items(${name})`;
}

interface SumsQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * @param facets the columns of the facets, beside that of all objects
 * @param words a table of the words or items of `object`, as `#word`
 */
function sumsOf(
  metadata: EntityMetadata,
  column: ColumnMetadata,
  facets: readonly ColumnMetadata[][],
  words: string,
): SumsQuery {
  const columns = new Set([column, ...facets.flat()].map(({ databaseName }) => databaseName));
  const source = `(SELECT ${[...columns].map((name) => `"${name}"`).join(', ')}, 1 AS "#step" FROM "${metadata.tableName}") object
    CROSS JOIN LATERAL ${words}`;
  return {
    text: `SELECT tally_sums($1, $2, '"#word"') AS sums`,
    values: [['', ...facets.map(namesOf)], source],
  };
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
  const { tally, deltas } = wordTally;
  const names = facetNames(facets, values);
  const counts = [tally, deltas].map(
    (table) => `(SELECT coalesce(sum(count), 0) FROM ${table}
      WHERE ${table}.word = counted.word AND facet = ANY(${names}))`,
  );
  return `(SELECT ${counts.join(' + ')} FROM (${countedWord(wordTally, text, inTitle, values)}) counted)`;
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
