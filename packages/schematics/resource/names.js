import pluralize from 'pluralize';
import { takenBy } from '@catalogue/server/generator';
import { GeneratorError } from './generator-error.js';

/**
 * The names of a resource in its files.
 *
 * @typedef {object} Names
 * @property {string} resource its table, its path and its name in commands: `order_items`
 * @property {string} folder `order-items`
 * @property {string} file the singular in file names: `order-item`
 * @property {string} plural as a class: `OrderItems`
 * @property {string} singular as a class: `OrderItem`
 * @property {string} entity the class of the entity: `OrderItem`; `ProxyEntity` for a class that JavaScript has
 * @property {string} property `orderItems`
 * @property {string} identifier the default name of the identifier: `orderItemID`
 * @property {string} words the plural in prose: `order items`
 * @property {string} word the singular in prose: `order item`
 */

/** Maximum length of a resource's name: names made from it must fit into PostgreSQL's 63 bytes. */
const MAXIMUM_LENGTH = 40;

/** Classes that a resource's files import, and well-known classes of JavaScript. */
const KNOWN_CLASSES = new Set(
  `Any Array Between Blob Boolean Buffer Check Column Controller CreateDateColumn Date Error Event File ForeignKey
   Function Get Headers Image Index Injectable InjectRepository Listing ListModule ListQueryDto Location Map Meaning
   Module Number Object ObjectLookup ObjectQueryDto Page Param PrimaryColumn Promise Proxy Query QueryOf Raw Record
   Reflect RegExp Repository Request Resource Response Set String Symbol TypeOrmModule UpdateDateColumn URL WeakMap
   WeakSet`.split(/\s+/),
);

/** https://262.ecma-international.org/15.0/#prod-ReservedWord, and the words that strict mode reserves. */
const RESERVED = new Set(
  `arguments await break case catch class const continue debugger default delete do else enum eval
   export extends false finally for function if implements import in instanceof interface let new
   null package private protected public return static super switch this throw true try typeof var
   void while with yield undefined`.split(/\s+/),
);

/**
 * All names of a resource.
 *
 * @param {string} name the plural, in any case: `order-items`, `orderItems`
 * @param {string | undefined} givenSingular default: the singular in English
 * @returns {Names}
 */
export function namesOf(name, givenSingular) {
  const words = wordsOf(name);
  checkWords(words, `${name} cannot name a resource`);
  const resource = words.replaceAll(' ', '_');
  checkNotTaken(resource);
  const plural = pluralize.plural(words).replaceAll(' ', '_');
  const singular = givenSingular === undefined ? pluralize.singular(words) : wordsOf(givenSingular);
  if (givenSingular === undefined && plural !== resource) {
    throw new GeneratorError(
      `A resource is named in the plural: ${plural}, not ${resource}; ` +
        `if ${resource} is a plural, give its singular with --singular`,
    );
  }
  checkWords(singular, `${givenSingular ?? ''} cannot name an object`);
  if (resource.length > MAXIMUM_LENGTH) {
    throw new GeneratorError(
      `${resource} is too long: a resource's name has at most ${MAXIMUM_LENGTH} characters`,
    );
  }
  const pascal = capitalised(camelOf(singular));
  return {
    resource,
    folder: words.replaceAll(' ', '-'),
    file: singular.replaceAll(' ', '-'),
    plural: capitalised(camelOf(words)),
    singular: pascal,
    entity: KNOWN_CLASSES.has(pascal) ? `${pascal}Entity` : pascal,
    property: camelOf(words),
    identifier: `${camelOf(singular)}ID`,
    words,
    word: singular,
  };
}

/** @type {(words: string, refusal: string) => void} */
function checkWords(words, refusal) {
  if (/^[a-z][a-z0-9]*( [a-z0-9]+)*$/.test(words)) return;
  throw new GeneratorError(`${refusal}: use letters and digits of ASCII, starting with a letter`);
}

/** Checks that a name is not one that the service or PostgreSQL gives to a table or a path. @param {string} name */
export function checkNotTaken(name) {
  const taken = takenBy(name);
  if (taken !== undefined) throw new GeneratorError(`${name} ${taken}`);
}

/** `order items` for `OrderItems`, `order_items` and `order-items`. @type {(text: string) => string} */
const wordsOf = (text) =>
  text
    .trim()
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[-_\s]+/g, ' ')
    .toLowerCase();

/** `orderItems` for `order items`. @type {(words: string) => string} */
export const camelOf = (words) =>
  words.replace(/ (.)/g, (_, /** @type {string} */ first) => first.toUpperCase());

/** A name with a capital: `Condition`. @type {(field: string) => string} */
export const capitalised = (field) => field.charAt(0).toUpperCase() + field.slice(1);

/** A name in the style of SQL, for an enumeration's type: `opening_hours`. @type {(field: string) => string} */
export const snakeOf = (field) => wordsOf(field).replaceAll(' ', '_');

/** Whether JavaScript reserves a name, so that no variable can have it. @type {(name: string) => boolean} */
export const isReserved = (name) => RESERVED.has(name);
