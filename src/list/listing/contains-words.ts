import { type EntityMetadata, FindOperator, type ObjectLiteral, Raw } from 'typeorm';
import type { ParameterValues } from '../../database/statement.js';
import { identifierFrom, isTextIdentifier } from '../../resource/identifiers.js';
import { columnOf } from '../../resource/resource.js';
import { mapAlternatives } from './alternatives.js';
import { type SearchText, searchText } from '../query/search-text.js';

/** What a condition of `containsWords` searches for. */
export interface WordSearch extends SearchText {
  /** The columns of which one may equal the whole text: those whose type has it. */
  readonly identifiers: readonly Identifying[];
}

/** A column, and its SQL type. */
interface Identifying {
  readonly name: string;
  readonly type: string;
}

const SEARCHES = new WeakMap<FindOperator<string>, WordSearch>();

/**
 * A condition on the column `words` of a resource: it contains all words of a text, in any order, whatever
 * their case and accents. A word that ends in `*` is the beginning of one. A repeated word is searched once,
 * because the cost of a search grows with its words.
 *
 * @param identifiers columns with an index. An object also matches if one of them equals the whole text.
 */
export function containsWords(
  text: string,
  identifiers: readonly string[] = [],
): FindOperator<string> {
  return searching(
    text,
    identifiers.map((name) => ({ name, type: 'text' })),
  );
}

/** The conditions of a list with each search fitted to the types of the columns that it names. */
export function withTypedSearches(
  conditions: readonly ObjectLiteral[],
  metadata: EntityMetadata,
): ObjectLiteral[] {
  return conditions.map((condition) =>
    mapAlternatives(condition, (alternative) => withTypedSearch(alternative, metadata)),
  );
}

function withTypedSearch(condition: ObjectLiteral, metadata: EntityMetadata): ObjectLiteral {
  const found = Object.entries(condition).find(([, value]) => wordSearchOf(value));
  const search = wordSearchOf(found?.[1]);
  if (!found || !search) return condition;
  const identifiers = search.identifiers.flatMap(({ name }): Identifying[] => {
    const { type } = columnOf(metadata, name);
    if (isTextIdentifier(type)) return [{ name, type: 'text' }];
    // No object has the text for its number.
    return identifierFrom(type, search.text) === undefined ? [] : [{ name, type: String(type) }];
  });
  return { ...condition, [found[0]]: searching(search.text, identifiers) };
}

function searching(text: string, identifiers: readonly Identifying[]): FindOperator<string> {
  const search = { ...searchText(text), identifiers };
  const condition = Raw(
    (column) => {
      // Such as "object"."words".
      const table = column.slice(0, column.lastIndexOf('.') + 1);
      const found = `${column} @@ ${searchQuery(':words', ':beginnings')}`;
      return `(${[found, ...equalities(search, table, ':text')].join(' OR ')})`;
    },
    { text, words: search.words, beginnings: search.beginnings },
  ) as FindOperator<string>;
  SEARCHES.set(condition, search);
  return condition;
}

/** What a condition of `containsWords` searches for; `undefined` for any other condition. */
export function wordSearchOf(condition: unknown): WordSearch | undefined {
  return condition instanceof FindOperator
    ? SEARCHES.get(condition as FindOperator<string>)
    : undefined;
}

/** A search as an SQL condition on `object`, with values that `addTyped` adds. */
export function searchedFor(search: WordSearch, column: string, values: ParameterValues): string {
  const words = values.addTyped(search.words, 'text');
  const beginnings = values.addTyped(search.beginnings, 'text[]');
  const found = `${column} @@ (SELECT ${searchQuery(words, beginnings)})`;
  // A statement must refer to every parameter that is added.
  if (search.identifiers.length === 0) return found;
  const named = equalities(search, 'object.', values.addTyped(search.text, 'text'));
  return `(${[found, ...named].join(' OR ')})`;
}

/** The conditions that a column of a table equals the whole text, as SQL. */
export function equalities(
  { identifiers }: WordSearch,
  table: string,
  text: string,
): readonly string[] {
  return identifiers.map(({ name, type }) => `${table}"${name}" = CAST(${text} AS ${type})`);
}

/**
 * An SQL condition on `object`: only an identifier equals the text of a search without beginnings;
 * `undefined` if there is no identifier.
 *
 * @param inTitle whether the search is one in titles
 */
export function onlyNamed(
  search: WordSearch & { readonly column: string },
  inTitle: boolean,
  values: ParameterValues,
): string | undefined {
  if (search.identifiers.length === 0) return undefined;
  const named = equalities(search, 'object.', values.add(search.text));
  const query = searchQuery(values.add(search.words), `'{}'`);
  const contains = `object."${search.column}" @@ ${inTitle ? searchingTitles(query) : query}`;
  return `(${named.join(' OR ')}) AND NOT ${contains}`;
}

/** The last argument of `search_query`. A text with one has the other by replacement. */
const ANYWHERE = 'in_title => false';
const IN_TITLE = 'in_title => true';

/**
 * An SQL expression for the tsquery of a search. All of its functions are immutable, so PostgreSQL evaluates
 * it once when it plans the statement, and not for each row.
 *
 * @param words an SQL expression
 * @param beginnings an SQL expression for an array
 */
export function searchQuery(words: string, beginnings: string): string {
  return `search_query(CAST(${words} AS text), CAST(${beginnings} AS text[]), ${ANYWHERE})`;
}

/** Conditions that search for words anywhere, as SQL that searches for them in titles. */
export function searchingTitles(conditions: string): string {
  return conditions.replaceAll(ANYWHERE, IN_TITLE);
}
