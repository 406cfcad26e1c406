import { COLUMN_TYPES, IDENTIFIER_TYPES, nameColumn } from '../../src/resource/column-types.js';
import { GeneratorError } from './generator-error.js';
import { isReserved } from './names.js';

/**
 * A field of the resource.
 *
 * @typedef {object} Field
 * @property {string} name
 * @property {Type} type
 * @property {number} [length] maximum characters of a text
 * @property {readonly string[]} [values] of an enumeration
 * @property {string} [resource] the resource that a reference refers to
 * @property {ReadonlySet<Flag>} flags
 */

/**
 * @typedef {import('../../src/resource/column-types.js').ColumnTypeName} Type
 * @typedef {import('../../src/resource/column-types.js').Flag} Flag
 * @typedef {typeof IDENTIFIER_TYPES[number]} IdentifierType
 */

/**
 * All fields of a resource.
 *
 * @typedef {object} Fields
 * @property {string} identifier
 * @property {IdentifierType} identifierType
 * @property {readonly Field[]} own all but the identifier and the times
 * @property {readonly Field[]} times `createdAt` and `updatedAt`, if they are filtered or sorted by
 */

const TYPES = /** @type {Type[]} */ (Object.keys(COLUMN_TYPES));

/** Each flag once. @type {readonly Flag[]} */
const FLAGS = /** @type {const} */ ([
  'null',
  'exact',
  'several',
  'tree',
  'not',
  'exists',
  'interval',
  'words',
  'sort',
  'counted',
]);

/** Those that make a filter that compares the field. @type {readonly Flag[]} */
const FILTERS = ['exact', 'several', 'tree', 'not', 'exists', 'interval'];

/** The times of every resource. */
export const TIMES = ['createdAt', 'updatedAt'];

/** Parameters that every list has, or may have. */
export const PARAMETERS = [
  'clientID',
  'access_token',
  'fields',
  'limit',
  'offset',
  'after',
  'sort',
  'include',
  'updatedSince',
  'updatedUntil',
  'createdSince',
  'createdUntil',
  'facets',
];

/** Maximum characters of a text. `indexed` is for a text that an index holds, and its default too. */
export const LENGTH = { indexed: nameColumn.length, default: 10_000, maximum: 1_000_000 };

const syntaxes = TYPES.flatMap((type) => COLUMN_TYPES[type].syntax);

/** How a field is described. */
export const SYNTAX =
  `name:type:flag…, separated by commas; a type is ${syntaxes.slice(0, -1).join(', ')} ` +
  `or ${syntaxes.at(-1)}; flags are ${FLAGS.join(', ')}, and identifier for the one that identifies`;

/**
 * Reads `supplierID, country:text=2:null:exact:counted, brandID:reference=brands:several`.
 *
 * @param {string} text
 * @param {string} defaultIdentifier
 * @returns {Fields}
 */
export function readFields(text, defaultIdentifier) {
  const descriptions = text.split(/[\s,]+/).filter((part) => part !== '');
  if (descriptions.length === 0) throw new GeneratorError(`There are no fields: ${SYNTAX}`);
  /** @type {string[]} */
  const identifiers = [];
  /** @type {IdentifierType} */
  let identifierType = 'text';
  /** @type {Field[]} */
  const fields = [];
  for (const description of descriptions) {
    const [name = '', ...rest] = description.split(':');
    checkField(name);
    if (fields.some((field) => field.name === name) || identifiers.includes(name)) {
      throw new GeneratorError(`The field ${name} is described twice`);
    }
    if (name === defaultIdentifier || rest.includes('identifier')) {
      const types = IDENTIFIER_TYPES.filter((type) =>
        rest.some((word) => typeNamed(word) === type),
      );
      const more = rest.filter(
        (word) =>
          !['identifier', 'exact', 'several', 'sort'].includes(word) &&
          !types.some((type) => type === typeNamed(word)),
      );
      const second = more[0] ?? types[1];
      if (second !== undefined) {
        throw new GeneratorError(
          `The identifier ${name} is a text of 1 to 100 characters, or integer, bigint or uuid: it cannot be ${second}`,
        );
      }
      identifierType = types[0] ?? 'text';
      identifiers.push(name);
    } else {
      fields.push(readField(name, rest));
    }
  }
  const [identifier = defaultIdentifier, second] = identifiers;
  if (second !== undefined) {
    throw new GeneratorError(
      `Only one field can be the identifier, not ${identifier} and ${second}`,
    );
  }
  checkIdentifier(identifier);
  const own = fields.filter(({ name }) => !TIMES.includes(name));
  checkParameters(identifier, fields);
  return {
    identifier,
    identifierType,
    own,
    times: fields.filter(({ name }) => TIMES.includes(name)),
  };
}

/**
 * Checks that the identifier can have a name.
 *
 * @param {string} identifier
 */
export function checkIdentifier(identifier) {
  if (isReserved(identifier) || identifier === 'query') {
    throw new GeneratorError(
      `The identifier cannot be called ${identifier}, since it names an argument`,
    );
  }
}

/**
 * @param {string} name
 * @param {readonly string[]} words the parts of its description after the name
 * @returns {Field}
 */
function readField(name, words) {
  const isTime = TIMES.includes(name);
  const [first = ''] = words;
  const [word = '', detail] = first.split('=');
  const named = typeNamed(word);
  if (!named && first !== '' && !isFlag(first)) {
    throw new GeneratorError(`The field ${name} cannot be of the type ${word}: ${SYNTAX}`);
  }
  const type = named ?? (isTime ? 'date-time' : 'text');
  const flags = new Set(/** @type {Flag[]} */ (named ? words.slice(1) : words).filter(Boolean));
  const allowed = COLUMN_TYPES[type].flags.filter(
    (flag) => !isTime || (flag !== 'null' && flag !== 'exists'),
  );
  for (const flag of flags) {
    if (!allowed.includes(flag)) {
      throw new GeneratorError(
        `The field ${name} cannot be ${flag}; ${isTime ? 'a time of every resource' : type} can be ${allowed.join(', ')}`,
      );
    }
  }
  if (isTime && type !== 'date-time') {
    throw new GeneratorError(`Every resource has ${name} already, as a date-time`);
  }
  if (flags.has('exact') && flags.has('several')) {
    throw new GeneratorError(
      `The field ${name} filters by one value or by several: exact or several`,
    );
  }
  if (flags.has('counted') && !flags.has('exact') && !flags.has('several')) {
    throw new GeneratorError(
      `The field ${name} is counted by its filter: it needs exact or several`,
    );
  }
  if (flags.has('exists') && !flags.has('null')) {
    throw new GeneratorError(`The field ${name} always exists: exists needs null`);
  }
  return { name, type, flags, ...readDetail({ name, type, flags }, detail) };
}

/**
 * @param {Field} field
 * @param {string | undefined} detail the text after the type's `=`
 * @returns {Partial<Field>}
 */
function readDetail({ name, type, flags }, detail) {
  switch (COLUMN_TYPES[type].detail) {
    case 'length':
      return { length: lengthOf(name, detail, isIndexed(flags)) };
    case 'values':
      return { values: valuesOf(name, detail) };
    case 'resource':
      if (!detail) {
        throw new GeneratorError(
          `The field ${name} needs the resource that it refers to: reference=<resource>`,
        );
      }
      return { resource: detail };
    case undefined:
      if (detail !== undefined) {
        throw new GeneratorError(
          `The field ${name} has ${detail} after its type, but ${type} takes nothing`,
        );
      }
      return {};
  }
}

/**
 * @param {string} name
 * @param {string | undefined} detail
 * @param {boolean} indexed
 */
function lengthOf(name, detail, indexed) {
  if (detail === 'unlimited' && !indexed) return Infinity;
  if (detail === undefined) return indexed ? LENGTH.indexed : LENGTH.default;
  const maximum = indexed ? LENGTH.indexed : LENGTH.maximum;
  if (/^[1-9][0-9]*$/.test(detail) && Number(detail) <= maximum) return Number(detail);
  throw new GeneratorError(
    `The field ${name} must be of 1 to ${maximum} characters${indexed ? ', since an index holds it' : ''}, not ${detail}`,
  );
}

/**
 * @param {string} name
 * @param {string | undefined} detail
 */
function valuesOf(name, detail = '') {
  const values = detail.split('/');
  const bad = values.find(
    (value) => !/^[A-Za-z0-9_.-]{1,63}$/.test(value) || /^[0-9.-]+$/.test(value),
  );
  if (bad !== undefined) {
    throw new GeneratorError(
      `The field ${name} needs values such as enum=NEW/USED: letters, digits, _, . and -, not ${JSON.stringify(bad)}`,
    );
  }
  if (new Set(values).size < values.length) {
    throw new GeneratorError(`The field ${name} has a value twice: ${detail}`);
  }
  if (values.length < 2) {
    throw new GeneratorError(`The field ${name} needs two values at least, such as enum=NEW/USED`);
  }
  return values;
}

/**
 * Checks that a field can have a name.
 *
 * @param {string} name
 */
export function checkField(name) {
  if (!isFieldName(name)) {
    throw new GeneratorError(
      `${JSON.stringify(name)} cannot name a field: a name is a letter, then up to 49 letters, digits and _, and not the name of a property that every JavaScript object has`,
    );
  }
}

/**
 * Whether a column and a parameter can have this name.
 *
 * @param {string} name
 */
export function isFieldName(name) {
  return /^[A-Za-z][A-Za-z0-9_]{0,49}$/.test(name) && !(name in {});
}

/**
 * @param {string} identifier
 * @param {readonly Field[]} fields
 */
export function checkParameters(identifier, fields) {
  const names = [identifier, ...fields.map(({ name }) => name)];
  if (fields.some(({ flags }) => flags.has('words')) && names.includes('words')) {
    throw new GeneratorError(
      'No field can be called words if another has the flag words: the search has a column of that name',
    );
  }
  const sameColumn = names.find(
    (name, at) => names.findIndex((other) => other.toLowerCase() === name.toLowerCase()) !== at,
  );
  if (sameColumn !== undefined) {
    throw new GeneratorError(`The field ${sameColumn} differs from another in case only`);
  }
  const confused = fields
    .flatMap(({ name, flags }) => namedByFlag(name, flags))
    .find((parameter) => names.includes(parameter));
  if (confused !== undefined) {
    throw new GeneratorError(
      `The field ${confused} is called like a filter of another one, and would be compared instead`,
    );
  }
  const seen = new Map(PARAMETERS.map((parameter) => [parameter, 'every list']));
  for (const [parameter, field] of parametersOf(identifier, fields)) {
    const other = seen.get(parameter);
    if (other !== undefined) {
      throw new GeneratorError(
        `The field ${field} would filter by ${parameter}, which ${other} has already`,
      );
    }
    seen.set(parameter, `the field ${field}`);
  }
}

/**
 * The filters whose names say what they mean: `brandIDNot` and `brandIDExists`.
 *
 * @param {string} name
 * @param {ReadonlySet<Flag>} flags
 * @returns {string[]}
 */
function namedByFlag(name, flags) {
  return [
    ...(flags.has('not') ? [`${name}Not`] : []),
    ...(flags.has('exists') ? [`${name}Exists`] : []),
  ];
}

/**
 * The parameters of the filters, each with its field.
 *
 * @param {string} identifier
 * @param {readonly Field[]} fields
 * @returns {[parameter: string, field: string][]}
 */
function parametersOf(identifier, fields) {
  /** @type {[string, string][]} */
  const parameters = [[identifier, identifier]];
  for (const { name, flags } of fields) {
    if (flags.has('exact') || flags.has('several')) parameters.push([name, name]);
    if (flags.has('tree')) parameters.push(['within', name]);
    for (const parameter of namedByFlag(name, flags)) parameters.push([parameter, name]);
    if (flags.has('interval')) parameters.push([`${name}Min`, name], [`${name}Max`, name]);
  }
  const searched = fields.find(({ flags }) => flags.has('words'));
  return searched ? [...parameters, ['q', searched.name]] : parameters;
}

/**
 * Whether an index must hold a field with these flags.
 *
 * @param {ReadonlySet<Flag>} flags
 */
export function isIndexed(flags) {
  return isFiltered(flags) || flags.has('sort');
}

/**
 * Whether a filter compares a field with these flags.
 *
 * @param {ReadonlySet<Flag>} flags
 */
export function isFiltered(flags) {
  return FILTERS.some((flag) => flags.has(flag));
}

/**
 * The type that has this name or alias.
 *
 * @param {string} name
 */
function typeNamed(name) {
  return TYPES.find(
    (type) => type === name || COLUMN_TYPES[type].aliases.some((alias) => alias === name),
  );
}

/** @param {string} text */
function isFlag(text) {
  return FLAGS.some((flag) => flag === text);
}
