/** What a text searches for. */
export interface SearchText {
  readonly text: string;
  /** The text without the words that end in `*`. */
  readonly words: string;
  /** The words that end in `*`, without it and without repetitions. */
  readonly beginnings: readonly string[];
}

/** What joins or divides the parts of a word without being seen; `search_text` of the database leaves it out, too. */
const JOINERS = /[\u00ad\u200c\u200d]/g;
/**
 * A word is a sequence of letters, digits and marks. `*` in the middle of one separates words. A format character,
 * such as a mark of the direction, separates words, but is not seen between a word and its `*`.
 */
const BEGINNING = /([\p{L}\p{N}][\p{L}\p{N}\p{M}]*)\p{Cf}*\*(?![\p{L}\p{N}\p{M}])/gu;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;

/** Reads the words and the beginnings of words of a text. */
export function searchText(text: string): SearchText {
  const folded = text.replace(JOINERS, '').normalize('NFKC');
  const beginnings = [...folded.matchAll(BEGINNING)].map(([, word = '']) => word);
  return { text, words: folded.replace(BEGINNING, ' '), beginnings: [...new Set(beginnings)] };
}

/** The number of distinct words and beginnings, ignoring case and accents. */
export function wordCount({ words, beginnings }: SearchText): number {
  const whole = words.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().match(WORD) ?? [];
  return new Set(whole).size + beginnings.length;
}
