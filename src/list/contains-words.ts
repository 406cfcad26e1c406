import { type FindOperator, Raw } from 'typeorm';

/**
 * A condition on a `tsvector` column: it contains all words of a text, in any order and case. A
 * repeated word is searched once, because the cost of a search grows with its words.
 */
export function containsWords(words: string): FindOperator<string> {
  // A tsvector cast to text lists its distinct lexemes: 'a' 'b'. All of these functions are immutable,
  // so PostgreSQL evaluates them once when it plans the statement, and not for each row.
  const lexemes = `CAST(strip(to_tsvector('simple', search_text(:words))) AS text)`;
  const query = `CAST(replace(${lexemes}, ''' ''', ''' & ''') AS tsquery)`;
  return Raw((column) => `${column} @@ ${query}`, { words }) as FindOperator<string>;
}
