import type { EntityMetadata } from 'typeorm';
import { anyValue } from '../../database/planner.js';
import type { ParameterValues } from '../../database/statement.js';
import { identifierFrom, isTextIdentifier } from '../../resource/identifiers.js';
import { columnOf } from '../../resource/resource.js';
import { searchText } from '../query/search-text.js';
import type { Identifying, WordSearch } from './condition.js';
import { ListOperator } from './from-typeorm.js';

/** What a search is printed for. */
export interface SearchContext {
  readonly values: ParameterValues;
  /** The name of the table in the statement. Default: `object`. */
  readonly table?: string;
  /** Whether words are searched for in titles alone. Default: anywhere. */
  readonly inTitle?: boolean;
}

/**
 * A condition on the column `words` of a resource: it contains all words of a text, in any order, whatever
 * their case and accents. A word that ends in `*` is the beginning of one. A repeated word is searched once,
 * because the cost of a search grows with its words.
 *
 * @param identifiers columns with an index. An object also matches if one of them equals the whole text.
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
  const identifiers = compared.flatMap((name) => identifying(metadata, name, text));
  return { ...searchText(text), column, compared, identifiers };
}

function identifying(metadata: EntityMetadata, name: string, text: string): Identifying[] {
  const { type, databaseName } = columnOf(metadata, name);
  if (isTextIdentifier(type)) return [{ name: databaseName, type: 'text' }];
  // No object has the text for its number.
  return identifierFrom(type, text) === undefined
    ? []
    : [{ name: databaseName, type: String(type) }];
}

/**
 * A search in SQL.
 *
 * @param column of type `tsvector`, such as `object."words"`
 */
export function searchSql(
  search: WordSearch,
  column: string,
  { values, table = 'object', inTitle = false }: SearchContext,
): string {
  const query = searchQuery(search, values, inTitle);
  const found = `${column} @@ ${values.isPlannedOnce ? anyValue(query) : query}`;
  const named = equalities(search, table, values);
  return named.length === 0 ? found : `(${[found, ...named].join(' OR ')})`;
}

/**
 * The condition that only an identifier equals the text of a search, in SQL on `object`; `undefined` if there is no
 * identifier. Beginnings of words are left out.
 */
export function onlyNamed(
  search: WordSearch,
  inTitle: boolean,
  values: ParameterValues,
): string | undefined {
  if (search.identifiers.length === 0) return undefined;
  const named = equalities(search, 'object', values);
  const query = searchQuery({ ...search, beginnings: [] }, values, inTitle);
  return `(${named.join(' OR ')}) AND NOT object."${search.column}" @@ ${query}`;
}

/** The conditions that a column of a table equals the whole text. */
function equalities(
  { identifiers, text }: WordSearch,
  table: string,
  values: ParameterValues,
): string[] {
  // A statement must refer to every parameter that is added.
  if (identifiers.length === 0) return [];
  const parameter = values.addTyped(text, 'text');
  return identifiers.map(({ name, type }) => `${table}."${name}" = CAST(${parameter} AS ${type})`);
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
