import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import {
  BEYOND_DATES,
  BEYOND_DECIMALS,
  BEYOND_DOUBLES,
  BEYOND_TIMES,
  type BeyondForm,
  DATE,
  identifierFrom,
  identifierType,
  isTextOf,
  jsonText,
  NAME_LENGTH,
  readDate,
  readDateTime,
  readNumber,
  SIGNED_DECIMAL,
  TIME,
  timeText,
  type ValueSchema,
} from './formats.js';
import { COLUMN_TYPES, type ColumnTypeName } from './column-types.js';
import { type CellFormat, jsonCell } from './json-cell.js';
import { declaredShape, exampleOfShape, schemaOfShape, type Shape } from './json-shape.js';
import { isDouble, JsonText, readJson } from './json-text.js';
import { externalTableOf } from './resource.js';

/** How the values of a column type are written and read. */
interface ColumnValues {
  /**
   * The SQL expression of the public form, which `row_to_json` then writes as the contract has it: a
   * decimal as text, a time as RFC 3339 in UTC with milliseconds. Default: the column.
   *
   * @param reference the column in SQL
   */
  readonly publicForm?: (reference: string) => string;
  /** The JSON schema of the public form, of a value that is not null. */
  readonly schema: (column: ColumnMetadata) => ValueSchema;
  /** How an import reads a cell. @throws TypeError for a type that cannot be imported */
  readonly cell: (column: CellColumn) => CellFormat;
  /** What the type has in PostgreSQL beyond the public form. Absent: nothing. */
  readonly beyond?: BeyondForm;
}

/** How the values of a column are written and read. */
export function valuesOf(column: TypeOfColumn): ColumnValues {
  const type = columnTypeOf(column);
  return type ? VALUES[type] : OTHER;
}

/** A type and whether it is that of the items of an array. */
export type TypeOfColumn = Pick<ColumnMetadata, 'type' | 'isArray'>;

/** What cells depend on. Those of numbers and times depend on the type alone. */
type CellColumn = TypeOfColumn &
  Partial<Pick<ColumnMetadata, 'collation' | 'enum' | 'length' | 'propertyName' | 'target'>>;

/** The name in `COLUMN_TYPES` of the type of a column; `undefined` if it is none of these. */
export function columnTypeOf(column: TypeOfColumn): StoredType | undefined {
  return STORED_TYPES.get(typeNameOf(column));
}

/** The type of a column as PostgreSQL knows it, such as `text[]`. */
export function typeNameOf({ type, isArray }: TypeOfColumn): string {
  return `${typeof type === 'function' ? type.name : type}${isArray ? '[]' : ''}`;
}

/**
 * The SQL type of a column's values, for a cast. The type of an enumeration has a name of its own: that of
 * `enumName`, or the one that TypeORM gives it.
 */
export function sqlTypeOf(column: ColumnMetadata): string {
  const { databaseName, entityMetadata, enumName, type } = column;
  if (type !== 'enum') return typeNameOf(column);
  return `"${enumName ?? `${entityMetadata.tableName}_${databaseName.toLowerCase()}_enum`}"`;
}

/** A value of a column as text; `undefined` if it may be any text. */
export function sampleOf(column: ColumnMetadata): string | undefined {
  const { type, examples = [], enum: values = [] } = valuesOf(column).schema(column);
  const [sample] = [...(examples as readonly (string | number)[]), ...values];
  return type === 'boolean' ? 'true' : sample?.toString();
}

/** Whether a column may have NaN, which PostgreSQL takes for the greatest number. */
export function mayBeNaN(column: ColumnMetadata): boolean {
  const type = columnTypeOf(column);
  return (type === 'decimal' || type === 'double') && !!externalTableOf(column.entityMetadata);
}

/**
 * Arrays of one dimension, without nulls. In CSV they are a list in JSON, too.
 *
 * @param items the schema of an item
 * @param what the items are, for a refusal
 */
function arrayOf(
  items: object,
  what: string,
  isItem: (item: unknown) => boolean,
  example: readonly unknown[],
): ColumnValues {
  const readObject = ({ value, isExact }: JsonText): string | undefined =>
    isExact && Array.isArray(value) && value.every(isItem) ? arrayLiteral(value) : undefined;
  return {
    publicForm: (reference) => `array_to_json(${reference})`,
    schema: () => ({ type: 'array', items, examples: [example] }),
    cell: () => ({
      expected: `a list in JSON of ${what}`,
      read: (text) => {
        const json = readJson(text);
        return json instanceof JsonText ? readObject(json) : undefined;
      },
      readObject,
    }),
  };
}

/** https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function arrayLiteral(items: readonly unknown[]): string {
  return `{${items.map((item) => `"${String(item).replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

/** What a file has for a boolean, in any case: PostgreSQL writes letters, a spreadsheet capitals. */
const BOOLEANS: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['t', 'true'],
  ['false', 'false'],
  ['f', 'false'],
]);

/** Values as identifiers have them, too. */
function identifying(
  type: 'integer' | 'bigint' | 'uuid',
  example: unknown,
  expected: string,
): ColumnValues {
  return {
    schema: () => ({ ...identifierType(type).schema, examples: [example] }),
    cell: () => ({ expected, read: (text) => identifierFrom(type, text) }),
  };
}

/** Every type but a reference, which is stored as a text. */
export type StoredType = Exclude<ColumnTypeName, 'reference'>;

export const VALUES: Readonly<Record<StoredType, ColumnValues>> = {
  text: {
    schema: ({ isPrimary, length }) => ({
      type: 'string',
      ...(isPrimary && { minLength: 1 }),
      ...(length && { maxLength: Number(length) }),
    }),
    cell: ({ collation, length }) => {
      // An indexed text is never empty: no filter could ask for it.
      const [minimum, maximum] = [collation === 'C' ? 1 : 0, Number(length) || Infinity];
      return {
        expected: maximum === Infinity ? 'text' : `text of ${minimum} to ${maximum} characters`,
        read: (text) => (isTextOf(text, minimum, maximum) ? text : undefined),
      };
    },
  },
  integer: identifying('integer', 3, 'an integer between -2147483648 and 2147483647'),
  bigint: {
    ...identifying(
      'bigint',
      '9007199254740993',
      'an integer between -9223372036854775808 and 9223372036854775807',
    ),
    publicForm: (reference) => `(${reference})::text`,
  },
  uuid: identifying('uuid', identifierType('uuid').example, identifierType('uuid').expected),
  decimal: {
    publicForm: (reference) => `(${reference})::text`,
    schema: () => ({
      type: 'string',
      format: 'decimal',
      pattern: SIGNED_DECIMAL.source,
      examples: ['19.99'],
    }),
    beyond: BEYOND_DECIMALS,
    cell: () => ({
      expected: 'a decimal number such as 19.99',
      read: (text) => (SIGNED_DECIMAL.test(text) && text.length <= 100 ? text : undefined),
    }),
  },
  double: {
    schema: () => ({ type: 'number', format: 'double', examples: [2.5] }),
    beyond: BEYOND_DOUBLES,
    cell: () => ({
      expected: 'a finite number such as 2.5 or 1e-7',
      // PostgreSQL reads the text as JavaScript does, and keeps the sign of zero.
      read: (text) => (readNumber(text) !== undefined && isDouble(text) ? text : undefined),
      expectedOf: (cell) => {
        const nearest = readNumber(cell instanceof JsonText ? cell.text : String(cell));
        return nearest === undefined ? undefined : `a number that a double keeps, as ${nearest}`;
      },
    }),
  },
  boolean: {
    schema: () => ({ type: 'boolean' }),
    cell: () => ({
      expected: 'true or false',
      read: (text) => BOOLEANS.get(text.toLowerCase()),
    }),
  },
  date: {
    publicForm: jsonText,
    schema: () => ({ type: 'string', ...DATE, examples: ['2026-11-21'] }),
    beyond: BEYOND_DATES,
    cell: () => ({ expected: 'a date such as 2026-11-21', read: readDate }),
  },
  'date-time': {
    publicForm: timeText,
    schema: () => ({ type: 'string', ...TIME, examples: ['2026-11-21T12:00:00.000Z'] }),
    beyond: BEYOND_TIMES,
    cell: () => ({
      expected: 'an RFC 3339 time with a zone, such as 2026-11-21T12:00:00Z',
      read: (text) => {
        const time = readDateTime(text);
        const year = time?.getUTCFullYear() ?? 0;
        // Rounding up and shifting to UTC can lead to the year 10000, which has no such form. The year 0
        // has none in PostgreSQL.
        return year >= 1 && year <= 9999 ? time?.toISOString() : undefined;
      },
    }),
  },
  enum: {
    schema: ({ enum: values }) => ({ type: 'string', enum: values?.map(String) }),
    cell: ({ enum: values = [] }) => {
      const allowed = values.map(String);
      return {
        expected: `one of ${allowed.join(', ')}`,
        read: (text) => (allowed.includes(text) ? text : undefined),
      };
    },
  },
  texts: arrayOf(
    { type: 'string', minLength: 1, maxLength: NAME_LENGTH },
    `texts of 1 to ${NAME_LENGTH} characters`,
    (item) => typeof item === 'string' && isTextOf(item, 1, NAME_LENGTH),
    ['red', 'blue'],
  ),
  integers: arrayOf(
    identifierType('integer').schema,
    'integers between -2147483648 and 2147483647',
    (item) => Number.isInteger(item) && identifierFrom('integer', String(item)) !== undefined,
    [1, 2],
  ),
  json: {
    schema: (column) => {
      const shape = shapeOf(column);
      // Without a shape, any object or list that was imported.
      return shape ? { ...schemaOfShape(shape), examples: [exampleOfShape(shape)] } : {};
    },
    cell: (column) => jsonCell(shapeOf(column)),
  },
};

/** A type of PostgreSQL that this table lacks: listed as `row_to_json` writes it, not imported. */
const OTHER: ColumnValues = {
  schema: () => ({}),
  cell: ({ type }) => {
    throw new TypeError(`Columns of type ${String(type)} cannot be imported`);
  },
};

const STORED_TYPES: ReadonlyMap<string, StoredType> = new Map(
  (Object.keys(VALUES) as StoredType[]).flatMap((name) =>
    COLUMN_TYPES[name].columnTypes.map((type) => [type, name] as const),
  ),
);

/** The shape of a column; `undefined` if it may hold any object or list. */
function shapeOf({ target, propertyName = '' }: CellColumn): Shape | undefined {
  return typeof target === 'function' ? declaredShape(target, propertyName).shape : undefined;
}
