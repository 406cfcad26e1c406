import { isReserved } from './names.js';
import { GeneratorError } from './generator-error.js';

/**
 * A field as it was described.
 *
 * @typedef {object} Field
 * @property {string} name
 * @property {Type} type
 * @property {number} [length] most characters of a text
 * @property {readonly string[]} [values] of an enumeration
 * @property {string} [resource] that a reference names
 * @property {ReadonlySet<Flag>} flags
 */

/**
 * @typedef {'text' | 'integer' | 'decimal' | 'boolean' | 'date-time' | 'enum' | 'reference' | 'json'} Type
 * @typedef {'null' | 'exact' | 'several' | 'range' | 'words' | 'sort' | 'counted'} Flag
 */

/**
 * What is described: the field that identifies, the others, and what the times that every resource
 * has are used for.
 *
 * @typedef {object} Fields
 * @property {string} identifier
 * @property {readonly Field[]} own
 * @property {readonly Field[]} times `createdAt` and `updatedAt`
 */

/** What can be said of a field, by its type. @type {Record<Type, readonly Flag[]>} */
const FLAGS = {
  text: ['null', 'exact', 'several', 'words', 'sort', 'counted'],
  integer: ['null', 'exact', 'range', 'sort', 'counted'],
  decimal: ['null', 'exact', 'range', 'sort'],
  boolean: ['null', 'exact', 'counted'],
  'date-time': ['null', 'range', 'sort'],
  enum: ['null', 'exact', 'several', 'counted'],
  reference: ['null', 'exact', 'several', 'sort', 'counted'],
  json: ['null'],
};

/** @type {Record<string, Type>} */
const ALIASES = { enumeration: 'enum', datetime: 'date-time', int: 'integer', bool: 'boolean' };

const TIMES = ['createdAt', 'updatedAt'];
/** Parameters of every list. */
const PARAMETERS = [
  'clientID',
  'access_token',
  'fields',
  'limit',
  'offset',
  'sort',
  'updatedSince',
];
/** Of a text that an index holds, and of any other. */
const LENGTH = { indexed: 500, standard: 10_000, most: 1_000_000 };

export const SYNTAX =
  'name:type:flag…, separated by commas; a type is text, text=<length>, integer, decimal, boolean, ' +
  'date-time, enum=<A/B/C>, reference=<resource> or json; flags are null, exact, several, range, ' +
  'words, sort, counted, and identifier for the one that identifies';

/**
 * Reads `supplierID, country:text=2:null:exact:counted, brandID:reference=brands:several`.
 *
 * @param {string} text
 * @param {string} standardIdentifier the identifier where none is named
 * @returns {Fields}
 */
export function readFields(text, standardIdentifier) {
  const described = text.split(/[\s,]+/).filter((part) => part !== '');
  if (described.length === 0) throw new GeneratorError(`There are no fields: ${SYNTAX}`);
  /** @type {string[]} */
  const identifiers = [];
  /** @type {Field[]} */
  const fields = [];
  for (const part of described) {
    const [name = '', ...rest] = part.split(':');
    checkName(name);
    if (fields.some((field) => field.name === name) || identifiers.includes(name)) {
      throw new GeneratorError(`The field ${name} is described twice`);
    }
    if (name === standardIdentifier || rest.includes('identifier')) {
      const more = rest.filter(
        (word) => !['identifier', 'text', 'exact', 'several', 'sort'].includes(word),
      );
      if (more.length > 0) {
        throw new GeneratorError(
          `The identifier ${name} is a text of 1 to 100 characters: ${more[0]} cannot be said of it`,
        );
      }
      identifiers.push(name);
    } else {
      fields.push(readField(name, rest));
    }
  }
  const [identifier = standardIdentifier, second] = identifiers;
  if (second !== undefined)
    throw new GeneratorError(`Both ${identifier} and ${second} cannot identify`);
  if (isReserved(identifier) || identifier === 'query') {
    throw new GeneratorError(`${identifier} cannot be an argument's name, as an identifier is`);
  }
  const own = fields.filter(({ name }) => !TIMES.includes(name));
  checkParameters(identifier, fields);
  return { identifier, own, times: fields.filter(({ name }) => TIMES.includes(name)) };
}

/**
 * @param {string} name
 * @param {readonly string[]} words
 * @returns {Field}
 */
function readField(name, words) {
  const isTime = TIMES.includes(name);
  const [first = ''] = words;
  const [kind = '', detail] = first.split('=');
  const type = ALIASES[kind] ?? kind;
  const hasType = isType(type);
  if (!hasType && first !== '' && !isFlag(first)) {
    throw new GeneratorError(`The field ${name} cannot be of the type ${kind}: ${SYNTAX}`);
  }
  /** @type {Field} */
  const field = {
    name,
    type: hasType ? type : isTime ? 'date-time' : 'text',
    flags: new Set(),
  };
  const flags = new Set(/** @type {Flag[]} */ (hasType ? words.slice(1) : words).filter(Boolean));
  const allowed = isTime ? ['range', 'sort'] : FLAGS[field.type];
  for (const flag of flags) {
    if (!allowed.includes(flag)) {
      throw new GeneratorError(
        `The field ${name} cannot be ${flag}; ${isTime ? 'a time of every resource' : field.type} can be ${allowed.join(', ')}`,
      );
    }
  }
  if (isTime && field.type !== 'date-time') {
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
  return { ...field, ...readDetail(field, detail, flags), flags };
}

/**
 * @param {Field} field
 * @param {string | undefined} detail what stands after the type's `=`
 * @param {ReadonlySet<Flag>} flags
 * @returns {Partial<Field>}
 */
function readDetail({ name, type }, detail, flags) {
  switch (type) {
    case 'text':
      return { length: lengthOf(name, detail, isIndexed(flags)) };
    case 'enum':
      return { values: valuesOf(name, detail) };
    case 'reference':
      if (!detail)
        throw new GeneratorError(
          `The field ${name} needs the resource it names: reference=<resource>`,
        );
      return { resource: detail };
    default:
      if (detail !== undefined)
        throw new GeneratorError(
          `The field ${name} has ${detail} after its type, but a ${type} takes nothing`,
        );
      return {};
  }
}

/**
 * @param {string} name
 * @param {string | undefined} detail
 * @param {boolean} indexed
 */
function lengthOf(name, detail, indexed) {
  if (detail === undefined) return indexed ? LENGTH.indexed : LENGTH.standard;
  const most = indexed ? LENGTH.indexed : LENGTH.most;
  if (/^[1-9][0-9]*$/.test(detail) && Number(detail) <= most) return Number(detail);
  throw new GeneratorError(
    `The field ${name} must be of 1 to ${most} characters${indexed ? ', since an index holds it' : ''}, not ${detail}`,
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
  if (new Set(values).size < values.length)
    throw new GeneratorError(`The field ${name} has a value twice: ${detail}`);
  if (values.length < 2)
    throw new GeneratorError(`The field ${name} needs two values at least, such as enum=NEW/USED`);
  return values;
}

/** @param {string} name */
function checkName(name) {
  if (!isFieldName(name)) {
    throw new GeneratorError(
      `${JSON.stringify(name)} cannot name a field: a letter, then letters, digits and _, 50 at most, and nothing that every JavaScript object has`,
    );
  }
}

/**
 * Whether a column can bear this name, and a parameter.
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
function checkParameters(identifier, fields) {
  const names = [identifier, ...fields.map(({ name }) => name)];
  if (fields.some(({ flags }) => flags.has('words')) && names.includes('words')) {
    throw new GeneratorError(
      'The field words cannot be beside a search for words, whose column that is',
    );
  }
  const sameColumn = names.find(
    (name, at) => names.findIndex((other) => other.toLowerCase() === name.toLowerCase()) !== at,
  );
  if (sameColumn !== undefined)
    throw new GeneratorError(`The field ${sameColumn} differs from another in case only`);
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
 * The parameters by which fields filter, with the field of each.
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
    if (flags.has('range')) parameters.push([`${name}Min`, name], [`${name}Max`, name]);
  }
  const searched = fields.find(({ flags }) => flags.has('words'));
  return searched ? [...parameters, ['q', searched.name]] : parameters;
}

/**
 * Whether an index must hold a field.
 *
 * @param {ReadonlySet<Flag>} flags
 */
export function isIndexed(flags) {
  return ['exact', 'several', 'range', 'sort'].some((flag) =>
    flags.has(/** @type {Flag} */ (flag)),
  );
}

/**
 * @param {string} text
 * @returns {text is Type}
 */
function isType(text) {
  return Object.hasOwn(FLAGS, text);
}

/** @param {string} text */
function isFlag(text) {
  return Object.values(FLAGS).some((flags) => flags.includes(/** @type {Flag} */ (text)));
}
