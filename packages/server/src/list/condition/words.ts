import type { EntityMetadata } from 'typeorm';
import { anyValue } from '../../database/planner.js';
import type { ParameterValues } from '../../database/statement.js';
import { identifierFrom, isTextIdentifier } from '../../resource/formats.js';
import { declaredColumns } from '../../resource/declaration.js';
import { columnOf } from '../../resource/resource.js';
import { searchText } from '../query/search-text.js';
import type { Identifying, WordSearch } from './condition.js';
import { ListOperator } from './from-typeorm.js';

/** What a search is printed for. */
export interface SearchContext {
  readonly values: ParameterValues;
  /** The name of the table in the statement. Default: `object`. */
  readonly table?: string;
  /** Whether it finds only what the text names as a whole, or what has all words in the title. Default: all. */
  readonly only?: 'named' | 'titled' | undefined;
}

/**
 * A condition on the column `words` of a resource: it contains all words of a text, in any order, whatever
 * their case and accents. A word that ends in `*` is the beginning of one. A repeated word is searched once,
 * because the cost of a search grows with its words.
 *
 * @param identifiers columns with an index. An object also matches if one that is not searched for words equals the whole
 * text. By relevance, objects of which any of them does come first.
 */
export function containsWords(text: string, identifiers: readonly string[] = []): ListOperator {
  return new ListOperator('containsWords', (column, metadata) => {
    const searched = { column: columnOf(metadata, column).databaseName, compared: identifiers };
    return [{ kind: 'words', column, search: searchFor(text, searched, metadata) }];
  });
}

/** A search for a text in the columns of another one. */
export function searchFor(
  text: string,
  { column, compared }: Pick<WordSearch, 'column' | 'compared'>,
  metadata: EntityMetadata,
): WordSearch {
  const searched = metadata.columns.find(({ databaseName }) => databaseName === column);
  const inWords = declaredColumns(metadata).derived[searched?.propertyName ?? ''] ?? [];
  const identifiers = compared.flatMap((name): Identifying[] => {
    const { type, databaseName } = columnOf(metadata, name);
    const isText = isTextIdentifier(type);
    // No object has the text for its number.
    if (!isText && identifierFrom(type, text) === undefined) return [];
    const isInWords = inWords.includes(name);
    return [{ name: databaseName, type: isText ? 'text' : String(type), isInWords }];
  });
  return { ...searchText(text), column, compared, identifiers };
}

/**
 * A search in SQL.
 *
 * @param column of type `tsvector`, such as `object."words"`
 */
export function searchSql(
  search: WordSearch,
  column: string,
  { values, table = 'object', only }: SearchContext,
): string {
  if (only === 'named') {
    const whole = search.identifiers.map((each) => isWhole(each, search, table, values));
    return `(${['false', ...whole].join(' OR ')})`;
  }
  const query = searchQuery(search, values, only === 'titled');
  const found = `${column} @@ ${values.isPlannedOnce ? anyValue(query) : query}`;
  // A code that is searched is found by its words.
  const named = only ? [] : equalities(search, table, values);
  return named.length === 0 ? found : `(${[found, ...named].join(' OR ')})`;
}

/**
 * The condition that only an identifier equals the text of a search, in SQL on `object`; `undefined` if there is no
 * such identifier. Beginnings of words are left out.
 */
export function onlyNamed(search: WordSearch, values: ParameterValues): string | undefined {
  const named = equalities(search, 'object', values);
  if (named.length === 0) return undefined;
  const query = searchQuery({ ...search, beginnings: [] }, values, false);
  return `(${named.join(' OR ')}) AND NOT object."${search.column}" @@ ${query}`;
}

/** The conditions that an identifier which is not searched for words equals the whole text. */
function equalities(search: WordSearch, table: string, values: ParameterValues): string[] {
  return search.identifiers
    .filter(({ isInWords }) => !isInWords)
    .map((each) => isWhole(each, search, table, values));
}

/**
 * The condition that a column is the whole text. A code that is searched for words may be in upper or lower case, too.
 */
function isWhole(
  { name, type, isInWords }: Identifying,
  { text }: WordSearch,
  table: string,
  values: ParameterValues,
): string {
  if (isInWords && type === 'text') {
    const written = [text, text.toUpperCase(), text.toLowerCase()];
    return `${table}."${name}" = ANY(${values.addTyped(written, 'text[]')})`;
  }
  return `${table}."${name}" = CAST(${values.addTyped(text, 'text')} AS ${type})`;
}

/**
 * An SQL expression for the tsquery of a search. All of its functions are immutable, so PostgreSQL evaluates
 * it once when it plans the statement, and not for each row.
 */
function searchQuery(
  { words, beginnings }: Pick<WordSearch, 'words' | 'beginnings'>,
  values: ParameterValues,
  inTitle: boolean,
): string {
  const [text, array] = [values.addTyped(words, 'text'), values.addTyped(beginnings, 'text[]')];
  return `search_query(${text}, ${array}, in_title => ${inTitle})`;
}
