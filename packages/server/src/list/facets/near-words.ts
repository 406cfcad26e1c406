import { ParameterValues } from '../../database/statement.js';
import { replaceIn, type WordSearch } from '../condition/condition.js';
import { whereOf } from '../condition/print.js';
import { searchFor } from '../condition/words.js';
import { searchText, wordsApart } from '../query/search-text.js';
import { objectTable } from '../statement/page-statement.js';
import { countMatching, talliedBy } from '../statement/tallied-counts.js';
import type { VisibleListing } from '../visibility/visible-listing.js';

/** Most texts that are counted, each of which costs as much as the count of a list, and most that are shown. */
const MAXIMUM_COUNTED = 10;
const MAXIMUM_SHOWN = 5;

/** A text beside that of a search. */
export interface NearText {
  readonly text: string;
  /** How many letters differ: one is inserted, left out or replaced, or two that are adjacent change places. */
  readonly distance: number;
}

/** A row of `missingWords`: JSON, or null if each word finds something. */
export interface MissingWords {
  /** The folded words that find nothing, by their place. */
  readonly missing: string | null;
  /** Words of the searched column, the most frequent first. */
  readonly vocabulary: string | null;
}

/**
 * A statement for the words of a search that by themselves find nothing in its list, and for the words by the statistics of
 * PostgreSQL, as `MissingWords`. Those are of all objects, so that the texts made of them have to be counted.
 */
export function missingWords(
  list: VisibleListing,
  search: WordSearch,
): [text: string, values: unknown[]] {
  const { metadata } = list.repository;
  const values = new ParameterValues([metadata.tableName, search.column]);
  // Names the types, also of no word.
  const counts = [`(0, '', 1::bigint)`];
  for (const [at, word] of wordsApart(search.text).entries()) {
    if (at % 2 === 0) continue;
    const alone = { ...search, ...searchText(word), identifiers: [] };
    const count = countOf(list, search, alone, values);
    counts.push(`(${at}, ${values.addTyped(word, 'text')}, ${count})`);
  }
  const text = `WITH ${objectTable(metadata)},
    missing AS MATERIALIZED (
      SELECT at, search_text(word) AS word
      FROM (VALUES ${counts.join(', ')}) each(at, word, count) WHERE count = 0
    ), vocabulary AS (
      SELECT substr(lexeme, length(mark) + 1) AS word, frequency
      FROM pg_stats CROSS JOIN unnest(most_common_elems::text::text[], most_common_elem_freqs) AS each(lexeme, frequency)
      -- In another language than simple, others than these are stems.
      CROSS JOIN (SELECT CASE search_language() WHEN 'simple' THEN '' ELSE '*' END) AS raw(mark)
      WHERE (schemaname, tablename, attname) = (current_schema(), $1, $2)
        AND starts_with(lexeme, mark) AND NOT starts_with(lexeme, '^')
    )
    SELECT (SELECT json_object_agg(at, word) FROM missing) AS missing,
      (SELECT json_agg(word ORDER BY frequency DESC, word) FROM vocabulary WHERE EXISTS (SELECT FROM missing)) AS vocabulary`;
  return [text, values.values];
}

/** The texts nearest to a search, with other words in place of those that find nothing: the nearest and most frequent first. */
export function nearTexts({ text }: WordSearch, [row]: readonly MissingWords[]): NearText[] {
  const missing = JSON.parse(row?.missing ?? '{}') as Record<string, string>;
  const vocabulary = JSON.parse(row?.vocabulary ?? '[]') as string[];
  let near = [{ parts: wordsApart(text), distance: 0 }];
  for (const [place, word] of Object.entries(missing)) {
    const others = nearWords(word, vocabulary);
    near = near
      .flatMap(({ parts, distance }) =>
        others.map((other) => ({
          parts: parts.with(Number(place), other.text),
          distance: distance + other.distance,
        })),
      )
      .toSorted(byDistance)
      .slice(0, MAXIMUM_COUNTED);
  }
  return near
    .filter(({ distance }) => distance > 0)
    .map(({ parts, distance }) => ({ text: parts.join(''), distance }));
}

/**
 * A query of texts as that of `intervalsOf`: those that find something in the list, in place of its search. It has no row if
 * the search itself finds something.
 */
export function countedNear(
  list: VisibleListing,
  search: WordSearch | undefined,
  near: readonly NearText[],
  values: ParameterValues,
): string {
  const { metadata } = list.repository;
  // Names the types, also of no text.
  const texts = ['(NULL::integer, NULL::text, NULL::bigint)'];
  const conditions = ['count > 0'];
  if (search && near.length > 0) {
    conditions.push(`${countOf(list, search, search, values)} = 0`);
    for (const { text, distance } of near) {
      const count = countOf(list, search, searchFor(text, search, metadata), values);
      texts.push(`(${distance}, ${values.addTyped(text, 'text')}, ${count})`);
    }
  }
  const order = 'distance, count DESC, value COLLATE "C"';
  return `SELECT row_number() OVER (ORDER BY ${order}) AS place, value, count::bigint AS count
    FROM (VALUES ${texts.join(', ')}) AS near(distance, value, count)
    WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${MAXIMUM_SHOWN}`;
}

/** An SQL expression for the number of objects that a list has with another search. */
function countOf(
  list: VisibleListing,
  search: WordSearch,
  other: WordSearch,
  values: ParameterValues,
): string {
  const { metadata } = list.repository;
  const { conditions } = list.with((each) =>
    replaceIn(each, (condition) =>
      condition.kind === 'words' && condition.search === search
        ? { ...condition, search: other }
        : condition,
    ),
  );
  const { tallied } = talliedBy(metadata, conditions);
  const where = whereOf(conditions, { metadata, values });
  // That of a search needs no tables.
  return countMatching({ conditions, where, values, tallied }).total;
}

/** The other words of a vocabulary that are near a folded word, the nearest first. */
function nearWords(word: string, vocabulary: readonly string[]): NearText[] {
  const letters = Array.from(word);
  const most = letters.length < 3 ? 0 : letters.length < 6 ? 1 : 2;
  return vocabulary
    .flatMap((text) => {
      const others = Array.from(text);
      if (Math.abs(others.length - letters.length) > most) return [];
      const distance = distanceOf(letters, others, most);
      return distance > 0 && distance <= most ? [{ text, distance }] : [];
    })
    .toSorted(byDistance)
    .slice(0, MAXIMUM_COUNTED);
}

function byDistance(one: Pick<NearText, 'distance'>, other: Pick<NearText, 'distance'>): number {
  return one.distance - other.distance;
}

/**
 * The Damerau–Levenshtein distance of two words, with optimal string alignment: no part is changed twice. Infinite if it is
 * seen early to be above a number.
 */
function distanceOf(one: readonly string[], other: readonly string[], most: number): number {
  let before: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [row, letter] of one.entries()) {
    const next = [row + 1];
    for (const [at, each] of other.entries()) {
      const isSwapped = letter === other[at - 1] && one[row - 1] === each;
      next.push(
        Math.min(
          (last[at] ?? 0) + (letter === each ? 0 : 1),
          (last[at + 1] ?? 0) + 1,
          (next[at] ?? 0) + 1,
          isSwapped ? (before[at - 1] ?? 0) + 1 : Infinity,
        ),
      );
    }
    if (Math.min(...next) > most) return Infinity;
    [before, last] = [last, next];
  }
  return last.at(-1) ?? 0;
}
