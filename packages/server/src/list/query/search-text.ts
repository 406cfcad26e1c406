import { type InvalidValue, Parameter } from '../../http/parameters/declared-parameters.js';
import { isTextOf, NAME_LENGTH } from '../../resource/formats.js';
import { type FilterOptions, mustBe } from './parameters.js';

/** What a text searches for. */
export interface SearchText {
  readonly text: string;
  /** The text without the words that end in `*`. */
  readonly words: string;
  /** The words that end in `*`, without it and without repetitions. */
  readonly beginnings: readonly string[];
}

/**
 * What `search_text` of the database leaves out of words: accents, points of Hebrew and Arabic, variation selectors,
 * and what joins or divides the parts of a word without being seen.
 */
const LEFT_OUT =
  // eslint-disable-next-line no-misleading-character-class -- each mark is left out by itself
  /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\ufe00-\ufe0f\u{e0100}-\u{e01ef}\u00ad\u200c\u200d]/gu;
/**
 * A word is a sequence of letters, digits and marks. `*` in the middle of one separates words. A format character,
 * such as a mark of the direction, separates words, but is not seen between a word and its `*`.
 */
const BEGINNING = /([\p{L}\p{N}][\p{L}\p{N}\p{M}]*)\p{Cf}*\*(?![\p{L}\p{N}\p{M}])/gu;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;

/** A word as it is written, which does not end in `*`. */
const WHOLE_WORD =
  /([\p{L}\p{N}][\p{L}\p{N}\p{M}]*)(?![\p{L}\p{N}\p{M}]|\p{Cf}*\*(?![\p{L}\p{N}\p{M}]))/u;

/** A text in parts: those at odd places are its words, without those that end in `*`. */
export function wordsApart(text: string): string[] {
  return text.split(WHOLE_WORD);
}

/** Reads the words and the beginnings of words of a text. */
export function searchText(text: string): SearchText {
  const folded = text.normalize('NFKD').replace(LEFT_OUT, '').normalize('NFKC');
  const beginnings = [...folded.matchAll(BEGINNING)].map(([, word = '']) => word);
  return { text, words: folded.replace(BEGINNING, ' '), beginnings: [...new Set(beginnings)] };
}

/** The scripts that are written without spaces, as `search_unspaced` of the database has them. */
const UNSPACED = `ー${['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Myanmar', 'Khmer'].map((name) => `\\p{Script=${name}}`).join('')}`;
/** Up to five characters of these scripts, or any number of others. */
const PART = new RegExp(`[${UNSPACED}]{1,5}|[^${UNSPACED}]+`, 'gu');

/**
 * The number of distinct words and beginnings, ignoring case and accents. Without spaces, each five characters count as a word,
 * so that a name of up to 100 characters can be searched.
 */
export function wordCount({ words, beginnings }: SearchText): number {
  const whole = words.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().match(WORD) ?? [];
  const parts = (texts: readonly string[]): string[] =>
    texts.flatMap((text) => text.match(PART) ?? []);
  return new Set(parts(whole)).size + parts(beginnings).length;
}

/** Maximum number of different words of a search. Its cost grows with each. */
const MAXIMUM_WORDS = 20;
/** Minimum number of characters of the beginning of a word. Its cost grows with the words that it finds. */
const MINIMUM_BEGINNING = 2;

const SEARCH = Symbol('search');

/** Words to search for; see `containsWords`. It allows `sort=relevance`. Property: `string`. */
export function WordsParam(meaning: string, options?: FilterOptions): PropertyDecorator {
  const longest = `${MAXIMUM_WORDS} different words in ${NAME_LENGTH} characters`;
  const read = (text: string): string | InvalidValue => {
    // First, since reading the words of a text costs the square of its length.
    if (!isTextOf(text, 1, NAME_LENGTH)) return mustBe(`1 to ${longest}`);
    const search = searchText(text);
    const words = wordCount(search);
    if (words < 1 || words > MAXIMUM_WORDS) return mustBe(`1 to ${longest}`);
    return search.beginnings.every((word) => Array.from(word).length >= MINIMUM_BEGINNING)
      ? text
      : mustBe(`words with ${MINIMUM_BEGINNING} or more characters before each *`);
  };
  const parameter = Parameter({
    meaning: `${meaning} A word that ends in \`*\` is the beginning of one, ${MINIMUM_BEGINNING} characters or more. At most ${longest}. With it, \`sort\` may begin with \`relevance\`.`,
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: NAME_LENGTH,
      // More than white space and ASCII punctuation. An approximation of a letter or digit, for which not
      // every dialect of regular expressions has a class.
      pattern: '[^\\s!-/:-@\\[-`{-~]',
    },
    example: 'blue',
    read,
    ...options,
  });
  return (prototype, name) => {
    Reflect.defineMetadata(SEARCH, name, prototype);
    parameter(prototype, name);
  };
}

/** The name of the parameter of a query class that is a search for words, if it has one. */
export function searchParameterOf(prototype: object): string | undefined {
  return Reflect.getMetadata(SEARCH, prototype) as string | undefined;
}
