import { COLUMN_TYPES, isArrayType } from './column-types.js';

/**
 * The forms of filters: what the end of a filter's name says of the column that its beginning names. The types of query
 * classes, the flags of the generator and the tables of the documents derive from it. The condition of each form is in
 * `CONDITIONS` of `src/list/condition/filters.ts`.
 */

/**
 * @typedef {import('./column-types.js').ColumnTypeName} Type
 * @typedef {typeof FILTER_FORMS} FilterForms
 * @typedef {keyof FilterForms} FilterEnd
 * @typedef {FilterForms[FilterEnd]['flags'][number]['flag']} FilterFlag
 * @typedef {FilterFlag | import('./column-types.js').OtherFlag} Flag what a field may be used for
 *
 * @typedef {object} Described a field for which the generator writes a filter
 * @property {string} words what the objects are called, in the plural
 * @property {string} name
 * @property {Type} type
 * @property {boolean} nullable
 *
 * @typedef {object} FormFlag a flag of a field that makes the generator write the filter
 * @property {string} flag
 * @property {(field: Described) => string} means what the document says of the filter
 * @property {(column: string, type: Type) => readonly string[]} [served] conditions in SQL that an index must serve, so
 * that the filter is proposed for an external table
 *
 * @typedef {FormFlag & ({ decorator: 'one', types: readonly TypeWith<'one'>[] }
 *   | { decorator: 'several', types: readonly TypeWith<'several'>[] }
 *   | { decorator: 'BooleanParam', types: readonly Type[] })} Flagged `decorator` is that of one value of the column's
 * type, that of several, or another one; `types` are those of the columns that it fits
 *
 * @typedef {object} FilterForm
 * @property {'' | 'At'} of what the name of the column has in place of the end
 * @property {'values' | 'items' | 'presence' | 'bound' | 'time' | 'beginning'} takes what its value is
 * @property {string} type its value, in the documents
 * @property {string} keeps the objects that it keeps, in the documents
 * @property {readonly Flagged[]} flags
 */

/**
 * The types that have a decorator.
 *
 * @template {'one' | 'several'} Decorator
 * @typedef {{ [T in Type]: (typeof COLUMN_TYPES)[T][Decorator] extends string ? T : never }[Type]} TypeWith
 */

const BOUNDED = /** @type {const} */ ([
  'integer',
  'bigint',
  'decimal',
  'double',
  'date',
  'date-time',
]);

/** @type {(field: Described, later: string, least: string) => string} */
const bounded = ({ words, name, type }, later, least) => {
  const isTime = type === 'date' || type === 'date-time';
  const bound = isTime
    ? `this ${type === 'date' ? 'day' : 'time'} or ${later}`
    : `at ${least} this`;
  return `The ${words} whose ${name} is ${bound}.`;
};

/** Every form, by the end of the filter's name. That of the column itself has none. */
export const FILTER_FORMS = /** @satisfies {Record<string, FilterForm>} */ (
  /** @type {const} */ ({
    '': {
      of: '',
      takes: 'values',
      type: 'that of the column, or its array',
      keeps: 'with this value, or with one of these; of an array, with one of these items',
      flags: [
        {
          flag: 'exact',
          decorator: 'one',
          types: [
            'text',
            'integer',
            'bigint',
            'uuid',
            'decimal',
            'boolean',
            'date',
            'enum',
            'reference',
          ],
          means: ({ words, name, type }) =>
            `The ${words} whose ${name} is ${type === 'boolean' ? 'true, or those where it is false' : 'this'}.`,
          served: (column) => [`${column} = $1`],
        },
        {
          flag: 'several',
          decorator: 'several',
          types: ['text', 'integer', 'bigint', 'uuid', 'enum', 'reference', 'texts', 'integers'],
          means: ({ words, name, type }) =>
            isArrayType(type)
              ? `The ${words} with any of these ${name}.`
              : `The ${words} whose ${name} is one of these.`,
          served: (column, type) => [isArrayType(type) ? `${column} && $1` : `${column} = ANY($1)`],
        },
      ],
    },
    Not: {
      of: '',
      takes: 'values',
      type: 'that of the column, or its array',
      keeps: 'with none of these values or items, and those without any',
      flags: [
        {
          flag: 'not',
          decorator: 'several',
          types: ['integer', 'bigint', 'uuid', 'enum', 'reference', 'texts', 'integers'],
          means: ({ words, name, type, nullable }) =>
            isArrayType(type)
              ? `The ${words} with none of these ${name}.`
              : `The ${words} whose ${name} is none of these${nullable ? ', or that have none' : ''}.`,
        },
      ],
    },
    All: {
      of: '',
      takes: 'items',
      type: 'an array, as the column',
      keeps: 'whose array has all of these items',
      flags: [],
    },
    Exists: {
      of: '',
      takes: 'presence',
      type: '`boolean`; the column may be null, or is an array',
      keeps: 'with a value or an item, or without any',
      flags: [
        {
          flag: 'exists',
          decorator: 'BooleanParam',
          types: ['text', ...BOUNDED, 'uuid', 'boolean', 'enum', 'reference', 'texts', 'integers'],
          means: ({ words, name, type }) =>
            isArrayType(type)
              ? `The ${words} with any ${name}, or those without.`
              : `The ${words} with a value of ${name}, or those without one.`,
          // No index that a table usually has finds the arrays without an item.
          served: (column, type) =>
            isArrayType(type)
              ? [`coalesce(cardinality(${column}), 0) = 0`]
              : [`${column} IS NOT NULL`, `${column} IS NULL`],
        },
      ],
    },
    Min: {
      of: '',
      takes: 'bound',
      type: 'that of the column',
      keeps: 'with this value or a greater one',
      flags: [
        {
          flag: 'interval',
          decorator: 'one',
          types: BOUNDED,
          means: (field) => bounded(field, 'later', 'least'),
          served: (column) => [`${column} >= $1`],
        },
      ],
    },
    Max: {
      of: '',
      takes: 'bound',
      type: 'that of the column',
      keeps: 'with this value or a lesser one',
      flags: [
        {
          flag: 'interval',
          decorator: 'one',
          types: BOUNDED,
          means: (field) => bounded(field, 'earlier', 'most'),
        },
      ],
    },
    Starts: {
      of: '',
      takes: 'beginning',
      type: '`string`, of a text',
      keeps: 'whose text begins with this one, in the same case',
      flags: [
        {
          flag: 'starts',
          decorator: 'one',
          types: ['text'],
          means: ({ words, name }) => `The ${words} whose ${name} begins with this.`,
          served: (column) => [`${column} LIKE 'a%'`],
        },
      ],
    },
    Since: {
      of: 'At',
      takes: 'time',
      type: '`Date`, of a column such as `createdAt`',
      keeps: 'whose time is this one or later',
      flags: [],
    },
    Until: {
      of: 'At',
      takes: 'time',
      type: '`Date`, of a column such as `createdAt`',
      keeps: 'whose time is earlier than this one',
      flags: [],
    },
  })
);

/** The ends of the names of filters. */
export const FILTER_ENDS = /** @type {readonly FilterEnd[]} */ (Object.keys(FILTER_FORMS));

/** What the generator writes, with the end of the filter's name. */
export const FLAGGED = FILTER_ENDS.flatMap((end) =>
  FILTER_FORMS[end].flags.map((flagged) => ({
    end,
    .../** @type {Flagged} */ (flagged),
    flag: flagged.flag,
  })),
);

/** The flags that make a filter, each once. */
export const FILTER_FLAGS = [...new Set(FLAGGED.map(({ flag }) => flag))];

/** The flags that a field of a type may have. @type {(type: Type) => Flag[]} */
export function flagsOf(type) {
  const [first, ...others] = COLUMN_TYPES[type].flags;
  const flags = FILTER_FLAGS.filter((flag) =>
    FLAGGED.some((each) => each.flag === flag && each.types.some((one) => one === type)),
  );
  return [first, ...flags, ...others];
}

/**
 * What the name of a filter may say: the end, and the column that it would compare. A filter with the name of a column
 * comes first.
 *
 * @type {(filter: string) => { end: FilterEnd, column: string }[]}
 */
export const readingsOf = (filter) =>
  FILTER_ENDS.filter((end) => filter.endsWith(end)).map((end) => ({
    end,
    column: filter.slice(0, filter.length - end.length) + FILTER_FORMS[end].of,
  }));
