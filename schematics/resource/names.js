import pluralize from 'pluralize';
import { takenBy } from '../../src/resource/reserved-names.js';
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

/** Names of folders of `src`. */
const FOLDERS = new Set(['cli', 'database', 'demo', 'http', 'import', 'list', 'settings']);

/** Classes that a resource's files import, and well-known classes of JavaScript. */
const KNOWN_CLASSES = new Set([
  ...['Any', 'Between', 'Check', 'Column', 'Controller', 'CreateDateColumn', 'ForeignKey', 'Get'],
  ...[
    'Index',
    'Injectable',
    'InjectRepository',
    'LessThanOrEqual',
    'Listing',
    'ListModule',
    'Meaning',
    'Module',
  ],
  ...['MoreThanOrEqual', 'Page', 'Param', 'PrimaryColumn', 'Promise', 'Query', 'QueryOf', 'Raw'],
  ...['Record', 'Repository', 'Resource', 'TypeOrmModule', 'UpdateDateColumn', 'ListQueryDto'],
  ...[
    'ObjectLookup',
    'ObjectQueryDto',
    'Array',
    'Boolean',
    'Buffer',
    'Date',
    'Error',
    'Function',
    'Image',
    'Map',
  ],
  ...['Number', 'Object', 'Proxy', 'Reflect', 'RegExp', 'Request', 'Response', 'Set', 'String'],
  ...['Symbol', 'URL', 'WeakMap', 'WeakSet', 'Event', 'File', 'Blob', 'Headers', 'Location'],
]);

/**
 * All names of a resource.
 *
 * @param {string} name the plural, in any case: `order-items`, `orderItems`
 * @param {string | undefined} givenSingular default: the singular in English
 * @returns {Names}
 */
export function namesOf(name, givenSingular) {
  const words = wordsOf(name);
  if (!/^[a-z][a-z0-9]*( [a-z0-9]+)*$/.test(words)) {
    throw new GeneratorError(
      `${name} cannot name a resource: use letters and digits of ASCII, starting with a letter`,
    );
  }
  const resource = snake(words);
  checkNotTaken(resource);
  const plural = pluralize.plural(words);
  const singular = givenSingular === undefined ? pluralize.singular(words) : wordsOf(givenSingular);
  if (givenSingular === undefined && plural !== words) {
    throw new GeneratorError(
      `A resource is named in the plural: ${snake(plural)}, not ${snake(words)}; ` +
        `if ${snake(words)} is a plural, give its singular with --singular`,
    );
  }
  if (!/^[a-z][a-z0-9]*( [a-z0-9]+)*$/.test(singular)) {
    throw new GeneratorError(
      `${givenSingular ?? ''} cannot name an object: use letters and digits of ASCII, starting with a letter`,
    );
  }
  if (resource.length > MAXIMUM_LENGTH) {
    throw new GeneratorError(
      `${resource} is too long: a resource's name has at most ${MAXIMUM_LENGTH} characters`,
    );
  }
  const pascal = pascalOf(singular);
  return {
    resource,
    folder: words.replaceAll(' ', '-'),
    file: singular.replaceAll(' ', '-'),
    plural: pascalOf(words),
    singular: pascal,
    entity: KNOWN_CLASSES.has(pascal) ? `${pascal}Entity` : pascal,
    property: camelOf(words),
    identifier: `${camelOf(singular)}ID`,
    words,
    word: singular,
  };
}

/**
 * Checks that a name is not one that the service or PostgreSQL gives to a table, a path or a folder.
 *
 * @param {string} name
 */
export function checkNotTaken(name) {
  const taken = takenBy(name) ?? (FOLDERS.has(name) ? 'is taken by the service itself' : undefined);
  if (taken !== undefined) throw new GeneratorError(`${name} ${taken}`);
}

/**
 * `order items` for `OrderItems`, `order_items` and `order-items`.
 *
 * @param {string} text
 */
function wordsOf(text) {
  return text
    .trim()
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[-_\s]+/g, ' ')
    .toLowerCase();
}

/** @param {string} words */
function snake(words) {
  return words.replaceAll(' ', '_');
}

/** @param {string} words */
function pascalOf(words) {
  return words.replace(/(?:^| )(.)/g, (_, /** @type {string} */ first) => first.toUpperCase());
}

/**
 * `orderItems` for `order items`.
 *
 * @param {string} words
 */
export function camelOf(words) {
  return words.replace(/ (.)/g, (_, /** @type {string} */ first) => first.toUpperCase());
}

/**
 * A name with a capital: `Condition`.
 *
 * @param {string} field
 */
export function capitalised(field) {
  return field.charAt(0).toUpperCase() + field.slice(1);
}

/**
 * A name in the style of SQL, for an enumeration's type: `opening_hours`.
 *
 * @param {string} field
 */
export function snakeOf(field) {
  return snake(wordsOf(field));
}

/**
 * Whether JavaScript reserves a name, so that no variable can have it.
 *
 * @param {string} name
 */
export function isReserved(name) {
  return RESERVED.has(name);
}

/** https://262.ecma-international.org/15.0/#prod-ReservedWord, and the words that strict mode reserves. */
const RESERVED = new Set(
  `arguments await break case catch class const continue debugger default delete do else enum eval
   export extends false finally for function if implements import in instanceof interface let new
   null package private protected public return static super switch this throw true try typeof var
   void while with yield undefined`.split(/\s+/),
);
