import { type InvalidValue, Parameter } from '../../http/parameters/declared-parameters.js';
import { isTextOf, NAME_LENGTH } from '../../resource/formats.js';
import { type FilterOptions, mustBe } from './parameters.js';
import { searchText, wordCount } from './search-text.js';

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
