import pluralize from 'pluralize';
import { Refusal } from './refusal.js';

/**
 * What a resource is called in each place.
 *
 * @typedef {object} Names
 * @property {string} resource its table, its path and its name for import: `order_items`
 * @property {string} folder `order-items`
 * @property {string} file of one object: `order-item`
 * @property {string} plural as a class: `OrderItems`
 * @property {string} singular as a class: `OrderItem`
 * @property {string} entity the class of the entity: the same, unless TypeScript has it already
 * @property {string} property `orderItems`
 * @property {string} identifier the identifier unless one is named: `orderItemID`
 * @property {string} words of many: `order items`
 * @property {string} word of one: `order item`
 */

/** So long that the names of everything that belongs to its table fit into PostgreSQL's 63 bytes. */
const LONGEST = 40;

/** Paths, tables and names in SQL that are not a resource's, and folders that hold something else. */
const TAKEN = new Set([
  ...['deletions', 'docs', 'facets', 'health', 'metrics', 'openapi'],
  ...['access_tokens', 'clients', 'migrations', 'resource_versions', 'tallies', 'watermark'],
  ...['import_staging', 'tallied'],
  ...['cli', 'database', 'demo', 'http', 'import', 'list', 'settings'],
]);

/** How the names of the tables end that the service keeps beside the table of each resource. */
const TAKEN_ENDS = ['_deletions', '_tally', '_tally_deltas'];

/** Classes that the files of a resource use, or that everybody takes for JavaScript's own. */
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
 * @param {string} given the name in the plural, in any case: `order-items`, `orderItems`
 * @param {string | undefined} one the name in the singular, if English would not tell
 * @returns {Names}
 */
export function namesOf(given, one) {
  const words = wordsOf(given);
  if (!/^[a-z][a-z0-9]*( [a-z0-9]+)*$/.test(words)) {
    throw new Refusal(`${given} cannot name a resource: letters and digits of ASCII, please`);
  }
  const resource = snake(words);
  checkNotTaken(resource);
  const plural = pluralize.plural(words);
  const singular = one === undefined ? pluralize.singular(words) : wordsOf(one);
  if (one === undefined && plural !== words) {
    throw new Refusal(
      `A resource is named in the plural: ${snake(plural)}, not ${snake(words)}; ` +
        `if ${snake(words)} is the plural of something, say of what by --singular`,
    );
  }
  if (!/^[a-z][a-z0-9]*( [a-z0-9]+)*$/.test(singular)) {
    throw new Refusal(`${one ?? ''} cannot name an object: letters and digits of ASCII, please`);
  }
  if (resource.length > LONGEST) {
    throw new Refusal(`${resource} is too long: a resource's name has ${LONGEST} letters at most`);
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
 * Refuses the name of a table that the service or PostgreSQL has, or may have.
 *
 * @param {string} name
 */
export function checkNotTaken(name) {
  if (TAKEN.has(name)) throw new Refusal(`${name} is taken by the service itself`);
  const end = TAKEN_ENDS.find((each) => name.endsWith(each));
  if (end !== undefined) {
    throw new Refusal(
      `${name} is taken by the service itself, as all names that end in ${end} are`,
    );
  }
  if (name.startsWith('pg_')) {
    throw new Refusal(`${name} is taken by PostgreSQL, as all names that start with pg_ are`);
  }
}

/**
 * `order items` of `OrderItems`, `order_items`, `order-items`.
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

/** @param {string} words */
export function camelOf(words) {
  return words.replace(/ (.)/g, (_, /** @type {string} */ first) => first.toUpperCase());
}

/**
 * The name of a field with a capital, for a class: `Condition`.
 *
 * @param {string} field
 */
export function capitalised(field) {
  return field.charAt(0).toUpperCase() + field.slice(1);
}

/**
 * The name of a field in SQL's own style, for an enumeration's type: `opening_hours`.
 *
 * @param {string} field
 */
export function snakeOf(field) {
  return snake(wordsOf(field));
}

/**
 * Whether no variable can bear a name.
 *
 * @param {string} name
 */
export function isReserved(name) {
  return RESERVED.has(name);
}

/** https://262.ecma-international.org/15.0/#prod-ReservedWord, and those of strict mode. */
const RESERVED = new Set(
  `arguments await break case catch class const continue debugger default delete do else enum eval
   export extends false finally for function if implements import in instanceof interface let new
   null package private protected public return static super switch this throw true try typeof var
   void while with yield undefined`.split(/\s+/),
);
