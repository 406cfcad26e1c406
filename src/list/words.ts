import { type FindOperator, Raw } from 'typeorm';

/** The condition on a column of words that all of some words are there, in any order and case. */
export function containsWords(words: string): FindOperator<string> {
  const sql = (column: string): string =>
    `${column} @@ plainto_tsquery('simple', search_text(:words))`;
  return Raw(sql, { words }) as FindOperator<string>;
}
