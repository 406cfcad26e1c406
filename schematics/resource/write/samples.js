import { propertyName } from './classes.js';
import { quoted } from './resource.js';

/**
 * @typedef {import('../fields.js').Field} Field
 * @typedef {import('../fields.js').Type} Type
 * @typedef {import('./resource.js').Resource} Resource
 */

/**
 * A value that some objects of the test have: as a parameter has it, and as a literal.
 *
 * @typedef {object} Value
 * @property {string} parameter
 * @property {string} literal
 */

/**
 * The values of a field in the test of a resource.
 *
 * @typedef {object} Samples
 * @property {string} expression the value of the object `at`, as TypeScript
 * @property {string} example the value of the object 1, as the list answers with it
 * @property {readonly Value[]} values for a filter by one of them, or by them all
 * @property {string} [badOne] a value that a filter by one value refuses
 * @property {string} [badSeveral] a value that a filter by several values refuses
 * @property {Bound} [bound]
 */

/**
 * A bound that some objects of the test meet.
 *
 * @typedef {object} Bound
 * @property {string} parameter
 * @property {string} literal
 * @property {'Number' | 'String' | 'BigInt'} read what makes a value comparable with the literal
 * @property {string} bad a value that a filter by a bound refuses
 */

/**
 * An identifier in a test, made of a number from 0 to 89.
 *
 * @param {import('../fields.js').IdentifierType} type
 * @param {string} before what a text begins with
 * @returns {{ expression: (at: string) => string, value: (at: number) => Value }} as TypeScript, of an
 * expression for the number; and of a number
 */
export function keysOf(type, before) {
  switch (type) {
    case 'text':
      return {
        expression: (at) => `\`${before}\${${at}}\``,
        value: (at) => text(`${before}${at}`),
      };
    case 'integer':
      return {
        expression: (at) => `100 + (${at})`,
        value: (at) => ({ parameter: String(100 + at), literal: String(100 + at) }),
      };
    case 'bigint':
      return {
        // A number that JavaScript would round.
        expression: (at) => `\`90071992547409\${10 + (${at})}\``,
        value: (at) => text(`90071992547409${10 + at}`),
      };
    case 'uuid':
      return {
        expression: (at) => `\`00000000-0000-4000-8000-0000000000\${10 + (${at})}\``,
        value: (at) => text(`00000000-0000-4000-8000-0000000000${10 + at}`),
      };
  }
}

/** @type {Readonly<Record<Type, (field: Field, resource: Resource) => Samples>>} */
const SAMPLES = {
  text: ({ name, length = 0 }) => {
    // The digit alone where there is no room for more.
    const before = length > name.length + 1 ? `${name} ` : '';
    return {
      expression: `\`${before}\${at % 4}\``,
      example: quoted(`${before}1`),
      values: [text(`${before}1`), text(`${before}2`)],
      badSeveral: ',',
    };
  },
  integer: () => ({
    expression: '(at % 4) - 2',
    example: '-1',
    values: [{ parameter: '-2', literal: '-2' }],
    badOne: 'abc',
    badSeveral: '1,,2',
    bound: { parameter: '-1', literal: '-1', read: 'Number', bad: 'abc' },
  }),
  bigint: () => ({
    expression: '`${1 + (at % 4)}9007199254740993`',
    example: quoted('29007199254740993'),
    values: [text('19007199254740993'), text('29007199254740993')],
    badOne: 'abc',
    badSeveral: '1,,2',
    bound: {
      parameter: '29007199254740993',
      literal: '29007199254740993n',
      read: 'BigInt',
      bad: '1.5',
    },
  }),
  uuid: () => ({
    expression: '`00000000-0000-4000-8000-00000000000${at % 4}`',
    example: quoted('00000000-0000-4000-8000-000000000001'),
    values: [
      text('00000000-0000-4000-8000-000000000001'),
      text('00000000-0000-4000-8000-000000000002'),
    ],
    badOne: 'abc',
    badSeveral: ',',
  }),
  decimal: () => ({
    expression: '`${(at % 4) - 2}.50`',
    example: quoted('-1.50'),
    values: [{ parameter: '-2.5', literal: quoted('-2.50') }],
    badOne: '1e3',
    bound: { parameter: '-2', literal: '-2', read: 'Number', bad: 'abc' },
  }),
  double: () => ({
    expression: '(at % 4) - 2.5',
    example: '-1.5',
    values: [],
    bound: { parameter: '-1.5', literal: '-1.5', read: 'Number', bad: 'NaN' },
  }),
  boolean: () => ({
    expression: 'at % 2 === 0',
    example: 'false',
    values: [{ parameter: 'true', literal: 'true' }],
    badOne: 'yes',
  }),
  date: () => ({
    expression: '`2026-01-0${1 + (at % 4)}`',
    example: quoted('2026-01-02'),
    values: [text('2026-01-02')],
    badOne: '2026-02-30',
    bound: {
      parameter: '2026-01-02',
      literal: quoted('2026-01-02'),
      read: 'String',
      bad: '2026-1-2',
    },
  }),
  'date-time': () => ({
    expression: '`2026-01-0${1 + (at % 4)}T00:00:00.000Z`',
    example: quoted('2026-01-02T00:00:00.000Z'),
    values: [],
    bound: {
      parameter: '2026-01-02T00:00:00Z',
      literal: quoted('2026-01-02T00:00:00.000Z'),
      read: 'String',
      bad: 'yesterday',
    },
  }),
  enum: ({ values = [] }) => ({
    expression: `[${values.map(quoted).join(', ')}][at % ${values.length}]`,
    example: quoted(values[1] ?? values[0] ?? ''),
    values: [text(values[0] ?? '')],
    badOne: 'nonsense',
    badSeveral: 'nonsense',
  }),
  reference: ({ resource = '' }, { names, identifierType, targets }) => {
    if (resource === names.resource) {
      const keys = keysOf(identifierType, names.word.charAt(0));
      return {
        // A tree whose first objects are the roots.
        expression: `at < 4 ? null : ${keys.expression('at % 4')}`,
        example: 'null',
        values: [keys.value(1)],
        badOne: identifierType === 'text' ? undefined : ',',
        badSeveral: ',',
      };
    }
    const { word = '', identifierType: type = 'text' } = targets.get(resource) ?? {};
    const keys = keysOf(type, `${word}-`);
    return {
      expression: keys.expression('at % 3'),
      example: keys.value(1).literal,
      values: [keys.value(1)],
      badOne: type === 'text' ? undefined : ',',
      badSeveral: ',',
    };
  },
  texts: () => ({
    expression: '[`t${at % 4}`, \'a "b", c\\\\\', `u${at % 3}`]',
    example: "['t1', 'a \"b\", c\\\\', 'u1']",
    values: [
      { parameter: 't1', literal: quoted('t1') },
      { parameter: 'u2', literal: quoted('u2') },
    ],
    badSeveral: ',',
  }),
  integers: () => ({
    expression: '[at % 4, -7]',
    example: '[1, -7]',
    values: [
      { parameter: '1', literal: '1' },
      { parameter: '2', literal: '2' },
    ],
    badSeveral: '1,,2',
  }),
  json: ({ name }, { shapes }) => {
    const shape = shapes.get(name);
    return {
      expression: shape ? inJson(shape, false) : `{ at, list: [at % 4, null, 'Größe'] }`,
      example: shape ? inJson(shape, true) : `{ at: 1, list: [1, null, 'Größe'] }`,
      values: [],
    };
  },
};

/**
 * A value of a shape, as TypeScript.
 *
 * @param {import('../shape.js').SampledShape} shape
 * @param {boolean} isExample whether it is that of the object 1, or else that of the object `at`
 * @returns {string}
 */
function inJson(shape, isExample) {
  switch (shape.kind) {
    case 'text':
      return isExample ? quoted('t1') : '`t${at % 4}`';
    case 'integer':
      return isExample ? '1' : 'at % 4';
    case 'number':
      return isExample ? '1.5' : '(at % 4) + 0.5';
    case 'boolean':
      return isExample ? 'false' : 'at % 2 === 0';
    case 'list':
      return `[${shape.items ? inJson(shape.items, isExample) : ''}]`;
    case 'object':
      return `{ ${[...shape.keys].map(([key, each]) => `${propertyName(key)}: ${inJson(each, isExample)}`).join(', ')} }`;
    case 'any':
      return isExample ? '{ at: 1 }' : '{ at }';
  }
}

/**
 * The values of a field in the test of a resource. If the field can be null, some objects have null.
 *
 * @param {Resource} resource
 * @param {Field} field
 * @returns {Samples}
 */
export function samplesOf(resource, field) {
  const samples = SAMPLES[field.type](field, resource);
  const hasNull = field.flags.has('null') && samples.example !== 'null';
  return hasNull
    ? { ...samples, expression: `at % 5 === 0 ? null : ${samples.expression}` }
    : samples;
}

/** @param {string} value */
function text(value) {
  return { parameter: value, literal: quoted(value) };
}
