import {
  COLUMN_TYPES,
  FILTER_FLAGS,
  FLAGGED,
  flagsOf,
  IDENTIFIER_TYPES,
  isArrayType,
  nameColumn,
} from '@catalogue/server/generator';
import { fieldError, GeneratorError } from './generator-error.js';
import { isReserved } from './names.js';

/**
 * @typedef {import('@catalogue/server/generator').ColumnTypeName} Type
 * @typedef {import('@catalogue/server/generator').Flag} Flag
 * @typedef {typeof IDENTIFIER_TYPES[number]} IdentifierType
 *
 * @typedef {object} Field a field of the resource
 * @property {string} name
 * @property {Type} type
 * @property {number} [length] maximum characters of a text
 * @property {readonly string[]} [values] of an enumeration
 * @property {string} [resource] the resource that a reference refers to
 * @property {ReadonlySet<Flag>} flags
 *
 * @typedef {object} Fields all fields of a resource
 * @property {string} identifier
 * @property {IdentifierType} identifierType
 * @property {boolean} [isKeySearched] whether a search finds the identifier by its parts
 * @property {readonly Field[]} fields all but the identifier and the times
 * @property {readonly Field[]} times `createdAt` and `updatedAt`, if they are filtered or sorted by
 */

const TYPES = /** @type {Type[]} */ (Object.keys(COLUMN_TYPES));

/** Those that make a filter that compares the field. @type {readonly Flag[]} */
const FILTERS = [...FILTER_FLAGS, 'tree'];

/** Each flag once. @type {readonly Flag[]} */
const FLAGS = ['null', ...FILTERS, 'words', 'sort', 'counted'];

/** The times of every resource. */
export const TIMES = ['createdAt', 'updatedAt'];

/** Parameters that every list has, or may have. */
export const PARAMETERS =
  `clientID access_token fields limit offset after sort include updatedSince updatedUntil createdSince
   createdUntil facets facetStarts bounds`.split(/\s+/);

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
  const described = descriptions.map((description) => {
    const [name = '', ...words] = description.split(':');
    return { name, words };
  });
  const isKey = (/** @type {{ name: string, words: string[] }} */ { name, words }) =>
    name === defaultIdentifier || words.includes('identifier');
  const [key = { name: defaultIdentifier, words: [] }, second] = described.filter(isKey);
  if (second) {
    throw new GeneratorError(
      `Only one field can be the identifier, not ${key.name} and ${second.name}`,
    );
  }
  const identifierType = identifierTypeOf(key.name, key.words);
  const others = described.filter((each) => !isKey(each));
  const fields = others.map(({ name, words }) => readField(name, words));
  checkParameters(key.name, fields);
  const isKeySearched = key.words.includes('words');
  if (isKeySearched && !fields.some(({ flags }) => flags.has('words'))) {
    throw new GeneratorError(
      `The identifier ${key.name} is searched beside other fields: give one of them the flag words`,
    );
  }
  return {
    identifier: key.name,
    identifierType,
    isKeySearched,
    fields: fields.filter(({ name }) => !TIMES.includes(name)),
    times: fields.filter(({ name }) => TIMES.includes(name)),
  };
}

/** The type of the identifier. @type {(name: string, words: readonly string[]) => IdentifierType} */
function identifierTypeOf(name, words) {
  const types = words.filter((word) => IDENTIFIER_TYPES.some((type) => type === typeNamed(word)));
  const more = words.find(
    (word) => !['identifier', 'exact', 'several', 'sort', 'words', types[0]].includes(word),
  );
  if (more !== undefined) {
    throw new GeneratorError(
      `The identifier ${name} is a text of 1 to 100 characters, or integer, bigint or uuid: it cannot be ${more}`,
    );
  }
  return IDENTIFIER_TYPES.find((type) => type === typeNamed(types[0] ?? '')) ?? 'text';
}

/** @type {(name: string, words: readonly string[]) => Field} from the parts of its description after the name */
function readField(name, words) {
  const isTime = TIMES.includes(name);
  const [first = ''] = words;
  const [word = '', detail] = first.split('=');
  const named = typeNamed(word);
  if (!named && first !== '' && !FLAGS.some((flag) => flag === first)) {
    throw fieldError(name, `cannot be of the type ${word}: ${SYNTAX}`);
  }
  const type = named ?? (isTime ? 'date-time' : 'text');
  if (isTime && type !== 'date-time') {
    throw new GeneratorError(`Every resource has ${name} already, as a date-time`);
  }
  const flags = new Set(/** @type {Flag[]} */ (named ? words.slice(1) : words).filter(Boolean));
  const allowed = flagsOf(type).filter((flag) => !isTime || (flag !== 'null' && flag !== 'exists'));
  const other = [...flags].find((flag) => !allowed.includes(flag));
  if (other !== undefined) {
    const what = isTime ? 'a time of every resource' : type;
    throw fieldError(name, `cannot be ${other}; ${what} can be ${allowed.join(', ')}`);
  }
  const filters = ['exact', 'several'].filter((flag) => flags.has(/** @type {Flag} */ (flag)));
  if (filters.length > 1) {
    throw fieldError(name, 'filters by one value or by several: exact or several');
  }
  if (flags.has('counted') && filters.length === 0) {
    throw fieldError(name, 'is counted by its filter: it needs exact or several');
  }
  if (flags.has('exists') && !flags.has('null') && !isArrayType(type)) {
    throw fieldError(name, 'always exists: exists needs null');
  }
  return { name, type, flags, ...readDetail(name, type, detail, isIndexed(flags)) };
}

/** What the text after the `=` of its type says. @type {(name: string, type: Type, detail: string | undefined, indexed: boolean) => Partial<Field>} */
function readDetail(name, type, detail, indexed) {
  switch (COLUMN_TYPES[type].detail) {
    case 'length':
      return { length: lengthOf(name, detail, indexed) };
    case 'values':
      return { values: valuesOf(name, detail) };
    case 'resource':
      if (detail) return { resource: detail };
      throw fieldError(name, 'needs the resource that it refers to: reference=<resource>');
    case undefined:
      if (detail === undefined) return {};
      throw fieldError(name, `has ${detail} after its type, but ${type} takes nothing`);
  }
}

/** @type {(name: string, detail: string | undefined, indexed: boolean) => number} */
function lengthOf(name, detail, indexed) {
  if (detail === 'unlimited' && !indexed) return Infinity;
  if (detail === undefined) return indexed ? LENGTH.indexed : LENGTH.default;
  const maximum = indexed ? LENGTH.indexed : LENGTH.maximum;
  if (/^[1-9][0-9]*$/.test(detail) && Number(detail) <= maximum) return Number(detail);
  const why = indexed ? ', since an index holds it' : '';
  throw fieldError(name, `must be of 1 to ${maximum} characters${why}, not ${detail}`);
}

/** @type {(name: string, detail: string | undefined) => string[]} */
function valuesOf(name, detail = '') {
  const values = detail.split('/');
  const bad = values.find(
    (value) => !/^[A-Za-z0-9_.-]{1,63}$/.test(value) || /^[0-9.-]+$/.test(value),
  );
  if (bad !== undefined) {
    const form = 'letters, digits, _, . and -';
    throw fieldError(
      name,
      `needs values such as enum=NEW/USED: ${form}, not ${JSON.stringify(bad)}`,
    );
  }
  if (new Set(values).size < values.length) throw fieldError(name, `has a value twice: ${detail}`);
  if (values.length < 2) throw fieldError(name, 'needs two values at least, such as enum=NEW/USED');
  return values;
}

/** Whether a column and a parameter can have this name. @type {(name: string) => boolean} */
export const isFieldName = (name) => /^[A-Za-z][A-Za-z0-9_]{0,49}$/.test(name) && !(name in {});

/**
 * Checks the names of all fields and of the filters by them.
 *
 * @param {string} identifier
 * @param {readonly Field[]} fields
 */
export function checkParameters(identifier, fields) {
  const names = [identifier, ...fields.map(({ name }) => name)];
  const bad = names.find((name) => !isFieldName(name));
  if (bad !== undefined) {
    throw new GeneratorError(
      `${JSON.stringify(bad)} cannot name a field: a name is a letter, then up to 49 letters, digits and _, and not the name of a property that every JavaScript object has`,
    );
  }
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw fieldError(twice, 'is described twice');
  if (isReserved(identifier) || identifier === 'query') {
    throw new GeneratorError(
      `The identifier cannot be called ${identifier}, since it names an argument`,
    );
  }
  if (fields.some(({ flags }) => flags.has('words')) && names.includes('words')) {
    throw new GeneratorError(
      'No field can be called words if another has the flag words: the search has a column of that name',
    );
  }
  const folded = names.map((name) => name.toLowerCase());
  const ordered = fields.find(
    (field) => isNatural(field) && folded.includes(`${field.name}Order`.toLowerCase()),
  );
  if (ordered) {
    throw fieldError(
      `${ordered.name}Order`,
      `is called like the column with the order of ${ordered.name}`,
    );
  }
  const sameColumn = names.find((_, at) => folded.indexOf(folded[at] ?? '') !== at);
  if (sameColumn !== undefined) {
    throw fieldError(sameColumn, 'differs from another in case only');
  }
  const confused = fields
    .flatMap((field) => parametersOf(field).filter((parameter) => parameter !== field.name))
    .find((parameter) => names.includes(parameter));
  if (confused !== undefined) {
    const why = 'is called like a filter of another one, and would be compared instead';
    throw fieldError(confused, why);
  }
  const seen = new Map(PARAMETERS.map((parameter) => [parameter, 'every list']));
  seen.set(identifier, `the field ${identifier}`);
  const searched = fields.find(({ flags }) => flags.has('words'));
  for (const field of fields) {
    for (const parameter of [...parametersOf(field), ...(field === searched ? ['q'] : [])]) {
      const other = seen.get(parameter);
      if (other !== undefined) {
        throw fieldError(field.name, `would filter by ${parameter}, which ${other} has already`);
      }
      seen.set(parameter, `the field ${field.name}`);
    }
  }
}

/** What the generator writes for the flags of a field. @type {(field: Field) => typeof FLAGGED} */
export const flaggedOf = ({ flags, type }) =>
  FLAGGED.filter(({ flag, types }) => flags.has(flag) && types.some((each) => each === type));

/** The parameters of the filters by a field, without a search. @type {(field: Field) => string[]} */
const parametersOf = (field) => [
  ...flaggedOf(field).map(({ end }) => field.name + end),
  ...(field.flags.has('tree') ? ['within'] : []),
];

/** Whether an index must hold a field with these flags. @type {(flags: ReadonlySet<Flag>) => boolean} */
export const isIndexed = (flags) => isFiltered(flags) || flags.has('sort');

/** Whether a filter compares a field with these flags. @type {(flags: ReadonlySet<Flag>) => boolean} */
export const isFiltered = (flags) => FILTERS.some((flag) => flags.has(flag));

/** Whether texts of this name are names, which people expect in the natural order. @type {(name: string) => boolean} */
export const isName = (name) => /^(name|title|label)$/i.test(name);

/** Whether lists are sorted by a field in the natural order. @type {(field: Field) => boolean} */
export const isNatural = ({ name, type, flags }) =>
  type === 'text' && flags.has('sort') && isName(name);

/** The type that has this name or alias. @type {(name: string) => Type | undefined} */
const typeNamed = (name) =>
  TYPES.find((type) => type === name || COLUMN_TYPES[type].aliases.some((alias) => alias === name));
