import { type FindOperator, Raw } from 'typeorm';

/**
 * The condition on a column of words that all of some words are there, in any order and case. A
 * repeated word is looked for once, since PostgreSQL's time grows with the words of a query.
 */
export function containsWords(words: string): FindOperator<string> {
  // As text, a tsvector is its different lexemes: 'a' 'b'. All of these functions are immutable, so
  // that the query is made when the statement is planned, and not for each row.
  const lexemes = `CAST(strip(to_tsvector('simple', search_text(:words))) AS text)`;
  const query = `CAST(replace(${lexemes}, ''' ''', ''' & ''') AS tsquery)`;
  return Raw((column) => `${column} @@ ${query}`, { words }) as FindOperator<string>;
}
