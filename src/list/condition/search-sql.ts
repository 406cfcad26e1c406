import type { ParameterValues } from '../../database/statement.js';
import type { WordSearch } from './words.js';

/**
 * The condition that a column contains the words of a search, or that an identifier equals its text, in SQL.
 *
 * @param column of type `tsvector`, such as `object."words"`
 */
export function searchSql(
  search: WordSearch,
  column: string,
  {
    values,
    table,
    inTitle,
  }: { readonly values: ParameterValues; readonly table: string; readonly inTitle: boolean },
): string {
  const query = searchQuery(search, values, inTitle);
  const found = `${column} @@ ${values.isPlannedOnce ? `(SELECT ${query})` : query}`;
  const named = equalities(search, table, values);
  return named.length === 0 ? found : `(${[found, ...named].join(' OR ')})`;
}

/**
 * The condition that only an identifier equals the text of a search, in SQL on `object`; `undefined` if there is no
 * identifier. Beginnings of words are left out.
 */
export function onlyNamed(
  search: WordSearch & { readonly column: string },
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
