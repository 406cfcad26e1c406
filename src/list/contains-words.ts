import { FindOperator, Raw } from 'typeorm';

/** The text that each condition of `containsWords` searches for. */
const TEXTS = new WeakMap<FindOperator<string>, string>();

/**
 * A condition on a `tsvector` column: it contains all words of a text, in any order and case. A
 * repeated word is searched once, because the cost of a search grows with its words.
 */
export function containsWords(words: string): FindOperator<string> {
  // A tsvector cast to text lists its lexemes: 'a' 'b'. All of these functions are immutable, so
  // PostgreSQL evaluates them once when it plans the statement, and not for each row.
  const lexemes = `CAST(${lexemesOf(':words')} AS text)`;
  const query = `CAST(replace(${lexemes}, ''' ''', ''' & ''') AS tsquery)`;
  const condition = Raw((column) => `${column} @@ ${query}`, { words }) as FindOperator<string>;
  TEXTS.set(condition, words);
  return condition;
}

/** The text that a condition of `containsWords` searches for; `undefined` for any other condition. */
export function searchedText(condition: unknown): string | undefined {
  return condition instanceof FindOperator
    ? TEXTS.get(condition as FindOperator<string>)
    : undefined;
}

/**
 * An SQL expression for the distinct lexemes of a text, as a tsvector.
 *
 * @param text an SQL expression
 */
export function lexemesOf(text: string): string {
  return `strip(to_tsvector('simple', search_text(${text})))`;
}
