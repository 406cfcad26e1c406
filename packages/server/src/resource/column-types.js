/**
 * The types that a resource's columns can have: the facts that the service and the generator share.
 * How the values of each type are written and read is in `column-values.ts`.
 *
 * `npm run lint` names the tables that lack a new type, but for those that may do without it: `FILTER_FORMS`
 * (`filter-forms.js`), `ACCEPTS` and `FILTERS` of the generator (`column.js`), `TYPES` of `src/schema/external-table.ts`, `ARGUMENTS` of the client (`module.js`), and the
 * table of fields in `docs/resources.md`.
 */

/**
 * @typedef {import('typeorm').ColumnOptions} ColumnOptions
 * @typedef {keyof typeof COLUMN_TYPES} ColumnTypeName
 * @typedef {'null' | 'tree' | 'words' | 'sort' | 'counted'} OtherFlag what a field may be used for, beside
 * the filters of `filter-forms.js`
 */

/**
 * A column for which the generator writes code.
 *
 * @typedef {object} GeneratedColumn
 * @property {number} length maximum characters of a text
 * @property {boolean} isIndexed whether an index holds it
 * @property {string} enumClass the TypeScript enumeration of its values
 * @property {string} enumName the PostgreSQL type of its values
 */

/**
 * A type of columns. Decorators are those of `index.ts`.
 *
 * @typedef {object} ColumnType
 * @property {readonly [string, ...string[]]} columnTypes `type` in TypeORM's column options
 * @property {(column: GeneratedColumn) => string} sql the type in CREATE TABLE
 * @property {(column: GeneratedColumn) => string} options TypeORM's column options, as TypeScript
 * @property {(column: GeneratedColumn) => string} property the TypeScript type of the property, and
 * of a filter by one value
 * @property {readonly string[]} aliases other names that the generator accepts
 * @property {'length' | 'values' | 'resource' | undefined} detail what follows `=` in a field's
 * description
 * @property {readonly string[]} syntax the type in a field's description
 * @property {(column: GeneratedColumn) => string | undefined} argument what the decorators take after
 * the meaning
 * @property {(column: Pick<GeneratedColumn, 'length'>) => number} bytes maximum bytes of a value in an
 * index, with the padding before the next one
 * @property {string | undefined} one the decorator of a filter by one value, or by a bound
 * @property {string | undefined} several the decorator of a filter by one or more values
 * @property {readonly ['null', ...OtherFlag[]]} flags
 */

/** Column options of an identifier and of a reference to one: compared byte by byte. */
export const identifierColumn = /** @satisfies {ColumnOptions} */ (
  /** @type {const} */ ({ type: 'varchar', length: 100, collation: 'C' })
);

/**
 * Column options of a name, and of any text that is filtered or sorted by: short enough for an index,
 * and ordered by code point on every server.
 */
export const nameColumn = /** @satisfies {ColumnOptions} */ (
  /** @type {const} */ ({ type: 'varchar', length: 500, collation: 'C' })
);

/** Column options of a time, stored to the millisecond as it is shown. */
export const timeColumn = /** @satisfies {ColumnOptions} */ (
  /** @type {const} */ ({ type: 'timestamptz', precision: 3 })
);

/** The SQL type of a time, in CREATE TABLE. */
export const timeType = sqlType(timeColumn);

/**
 * Maximum bytes of a decimal in an index: an import accepts 100 digits at most. PostgreSQL stores four
 * of them in two bytes.
 */
const DECIMAL_BYTES = 64;

/**
 * The facts of a type that depend on nothing else in a field's description, and of most types.
 *
 * @param {string} sql
 * @param {string} property
 */
const plain = (sql, property) => ({
  sql: () => sql,
  options: () => `{ type: '${sql}' }`,
  property: () => property,
  aliases: /** @type {readonly string[]} */ ([]),
  detail: undefined,
  argument: () => undefined,
  bytes: () => 8,
});

/** Every column type, by the name that it has in a field's description. */
export const COLUMN_TYPES = /** @satisfies {Record<string, ColumnType>} */ (
  /** @type {const} */ ({
    text: {
      columnTypes: ['varchar', 'character varying', 'text'],
      sql: ({ length, isIndexed }) => {
        if (length === Infinity) return 'text';
        return sqlType(isIndexed ? { ...nameColumn, length } : { type: 'varchar', length });
      },
      options: ({ length, isIndexed }) => {
        if (length === Infinity) return `{ type: 'text' }`;
        if (!isIndexed) return `{ type: 'varchar', length: ${digits(length)} }`;
        return length === nameColumn.length ? 'nameColumn' : `{ ...nameColumn, length: ${length} }`;
      },
      property: () => 'string',
      aliases: [],
      detail: 'length',
      syntax: ['text', 'text=<length>', 'text=unlimited'],
      flags: ['null', 'words', 'sort', 'counted'],
      one: 'TextParam',
      several: 'TextsParam',
      argument: ({ length }) =>
        length === nameColumn.length ? undefined : `{ maximum: ${length} }`,
      bytes: ({ length }) => textBytes(length),
    },
    integer: {
      ...plain('integer', 'number'),
      columnTypes: ['integer', 'int', 'int4'],
      aliases: ['int'],
      syntax: ['integer'],
      flags: ['null', 'sort', 'counted'],
      one: 'SignedIntegerParam',
      several: 'IntegersParam',
    },
    // Text in TypeScript and in JSON, where a number of 64 bits would be rounded.
    bigint: {
      ...plain('bigint', 'string'),
      columnTypes: ['bigint', 'int8'],
      syntax: ['bigint'],
      flags: ['null', 'sort', 'counted'],
      one: 'BigintParam',
      several: 'BigintsParam',
    },
    uuid: {
      ...plain('uuid', 'string'),
      columnTypes: ['uuid'],
      syntax: ['uuid'],
      flags: ['null', 'sort', 'counted'],
      one: 'UuidParam',
      several: 'UuidsParam',
      bytes: () => 16,
    },
    decimal: {
      ...plain('numeric', 'string'),
      columnTypes: ['numeric'],
      syntax: ['decimal'],
      flags: ['null', 'sort'],
      one: 'SignedDecimalParam',
      several: undefined,
      bytes: () => DECIMAL_BYTES,
    },
    // A number of JSON, which is rounded to 15 to 17 digits.
    double: {
      ...plain('double precision', 'number'),
      columnTypes: ['double precision', 'float8'],
      syntax: ['double'],
      flags: ['null', 'sort'],
      one: 'NumberParam',
      several: undefined,
    },
    boolean: {
      ...plain('boolean', 'boolean'),
      columnTypes: ['boolean'],
      aliases: ['bool'],
      syntax: ['boolean'],
      flags: ['null', 'counted'],
      one: 'BooleanParam',
      several: undefined,
    },
    date: {
      ...plain('date', 'string'),
      columnTypes: ['date'],
      syntax: ['date'],
      flags: ['null', 'sort'],
      one: 'DateParam',
      several: undefined,
    },
    'date-time': {
      ...plain(timeType, 'Date'),
      columnTypes: ['timestamptz', 'timestamp with time zone'],
      options: () => 'timeColumn',
      aliases: ['datetime'],
      syntax: ['date-time'],
      flags: ['null', 'sort'],
      one: 'DateTimeParam',
      several: undefined,
    },
    enum: {
      columnTypes: ['enum'],
      sql: ({ enumName }) => `"${enumName}"`,
      options: ({ enumClass, enumName }) =>
        `{ type: 'enum', enum: ${enumClass}, enumName: '${enumName}' }`,
      property: ({ enumClass }) => enumClass,
      aliases: ['enumeration'],
      detail: 'values',
      syntax: ['enum=<A/B/C>'],
      flags: ['null', 'counted'],
      one: 'EnumParam',
      several: 'EnumsParam',
      argument: ({ enumClass }) => enumClass,
      bytes: () => 8,
    },
    // The database stores it as a text.
    reference: {
      ...plain(sqlType(identifierColumn), 'string'),
      columnTypes: ['varchar'],
      options: () => 'identifierColumn',
      detail: 'resource',
      syntax: ['reference=<resource>'],
      flags: ['null', 'tree', 'sort', 'counted'],
      one: 'IdentifierParam',
      several: 'IdentifiersParam',
      bytes: () => textBytes(identifierColumn.length),
    },
    // One or more texts or integers, of which a filter finds any.
    texts: {
      ...plain('text[]', 'string[]'),
      columnTypes: ['text[]', 'varchar[]', 'character varying[]'],
      options: () => `{ type: 'text', array: true }`,
      syntax: ['texts'],
      flags: ['null', 'counted'],
      one: undefined,
      several: 'TextsParam',
      bytes: () => Infinity,
    },
    integers: {
      ...plain('integer[]', 'number[]'),
      columnTypes: ['integer[]', 'int[]', 'int4[]'],
      options: () => `{ type: 'integer', array: true }`,
      syntax: ['integers'],
      flags: ['null', 'counted'],
      one: undefined,
      several: 'IntegersParam',
      bytes: () => Infinity,
    },
    json: {
      ...plain('jsonb', 'object'),
      columnTypes: ['jsonb'],
      syntax: ['json'],
      flags: ['null'],
      one: undefined,
      several: undefined,
      bytes: () => Infinity,
    },
  })
);

/** Whether values of a type are arrays, whose items a gin index finds. @type {(type: ColumnTypeName) => boolean} */
export const isArrayType = (type) => COLUMN_TYPES[type].columnTypes[0].endsWith('[]');

/** The types that an identifier can have, by name. */
export const IDENTIFIER_TYPES = /** @type {const} */ (['text', 'integer', 'bigint', 'uuid']);

/** The type of an identifier, and of references to it. @param {typeof IDENTIFIER_TYPES[number]} name */
export function identifierFacts(name) {
  return COLUMN_TYPES[name === 'text' ? 'reference' : name];
}

/** Maximum bytes of a text in an index. @param {number} length maximum characters, of at most four bytes in UTF-8 */
export function textBytes(length) {
  return 8 * Math.ceil((4 + 4 * length) / 8);
}

/**
 * The type in CREATE TABLE: `varchar(100) COLLATE "C"`.
 *
 * @param {{ type: string, length?: number, precision?: number, collation?: string }} options
 */
function sqlType({ type, length, precision, collation }) {
  const size = length ?? precision;
  return `${type}${size === undefined ? '' : `(${size})`}${collation === undefined ? '' : ` COLLATE "${collation}"`}`;
}

/** An integer as TypeScript is written in this project: `10_000`, `5000`. @param {number} value */
function digits(value) {
  return value < 10_000 ? String(value) : String(value).replace(/\B(?=(\d{3})+$)/g, '_');
}
