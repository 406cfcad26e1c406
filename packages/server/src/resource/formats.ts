import { identifierColumn, nameColumn } from './column-types.js';

/** The forms of values: in queries and imported files, of identifiers, and those that JSON lacks. A reader returns `undefined` for an invalid text. */

/** Maximum characters (code points) of an identifier. */
export const IDENTIFIER_LENGTH: number = identifierColumn.length;

/** Maximum characters (code points) of a name, and of any text to filter or sort by. */
export const NAME_LENGTH: number = nameColumn.length;

/** A plain decimal integer, without a sign. */
export const PLAIN_INTEGER = /^[0-9]+$/;

/** A decimal integer with or without a `-`. */
export const SIGNED_INTEGER = /^-?[0-9]+$/;

/** Digits with an optional decimal point, without a sign. */
export const PLAIN_DECIMAL = /^[0-9]+(\.[0-9]+)?$/;

/** As `PLAIN_DECIMAL`, with or without a `-`. */
export const SIGNED_DECIMAL = /^-?[0-9]+(\.[0-9]+)?$/;

/** A UUID with hyphens, RFC 9562. PostgreSQL writes it in lower case. */
const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** A currency code of ISO 4217. Which codes there are changes with time. */
export const CURRENCY = /^[A-Z]{3}$/;

/** RFC 3339, section 5.6. A space in place of the `T`, which the RFC leaves optional, is invalid. */
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})T((?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60))(?:\.(\d+))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** Whether PostgreSQL can store a text: it is well-formed Unicode without NUL. */
export function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether PostgreSQL can store a text, and it has `minimum` to `maximum` characters (code points). */
export function isTextOf(text: string, minimum: number, maximum: number): boolean {
  if (text.length < minimum || text.length > 2 * maximum || !isText(text)) return false;
  return text.length <= maximum || Array.from(text).length <= maximum;
}

export function readBoolean(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** Reads a finite number as JSON writes it. */
export function readNumber(text: string): number | undefined {
  const value = /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : undefined;
}

/** Reads a full date of RFC 3339 in the years 1 to 9999, which PostgreSQL writes the same way. */
export function readDate(text: string): string | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !text.startsWith('0000') && isDay(text)
    ? text
    : undefined;
}

/** Whether there is a day. JavaScript parses February 30 as a day in March. */
function isDay(date: string): boolean {
  const day = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
}

/**
 * Reads an RFC 3339 time. Stored times have millisecond precision, so a finer time is rounded up:
 * rounded down, "since" would include earlier objects. In UTC, its year is between -1 and 10000.
 */
export function readDateTime(text: string): Date | undefined {
  const match = DATE_TIME.exec(text);
  if (!match) return undefined;
  const [, date = '', time = '', fraction = '', zone = ''] = match;
  if (!isDay(date)) return undefined;
  // A leap second becomes the first second of the next minute, as in PostgreSQL.
  const [whole, leap] = time.endsWith('60') ? [`${time.slice(0, -2)}59`, 1000] : [time, 0];
  const seconds = Date.parse(`${date}T${whole}${zone.toUpperCase()}`);
  const milliseconds = Math.ceil(Number(`0.${fraction || '0'}`) * 1000);
  return new Date(seconds + leap + milliseconds);
}

/** How the values of a type of identifiers look in a request, and their bounds in SQL. */
interface IdentifierType {
  /** The schema of an identifier in a query or in a path. */
  readonly schema: IdentifierSchema;
  /** What an identifier must be, for an error response. */
  readonly expected: string;
  /**
   * The canonical text of an identifier, as lists write it; `beyond` the bounds of the type for a number that is;
   * `undefined` for any other text.
   */
  readonly read: (text: string) => string | Beyond | undefined;
  /** SQL expressions for the minimum of the type, and for a value that is not below any other. */
  readonly bounds: { readonly minimum: string; readonly maximum: string };
  /** An identifier, unless the entity has a better one. Absent: any text is one. */
  readonly example?: string;
}

/** A subset of JSON Schema 2020-12. */
interface IdentifierSchema {
  readonly type: 'string' | 'integer';
  readonly format?: 'int32' | 'int64' | 'uuid';
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Beyond {
  readonly beyond: readonly [minimum: string, maximum: string];
}

/** The values of PostgreSQL's `integer`. */
export const INTEGER_BOUNDS = { minimum: -2_147_483_648, maximum: 2_147_483_647 } as const;

const UUID_BOUND = (digit: string): string =>
  `'${[8, 4, 4, 4, 12].map((length) => digit.repeat(length)).join('-')}'::uuid`;

const TEXT: IdentifierType = {
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: IDENTIFIER_LENGTH,
    pattern: '^[^\\u0000]+$',
  },
  expected: `text of 1 to ${IDENTIFIER_LENGTH} characters`,
  read: (text) => (isTextOf(text, 1, IDENTIFIER_LENGTH) ? text : undefined),
  bounds: { minimum: `''`, maximum: `repeat(chr(1114111), ${IDENTIFIER_LENGTH + 1})` },
};

const TYPES: Readonly<Record<string, IdentifierType>> = {
  integer: {
    schema: { type: 'integer', format: 'int32', ...INTEGER_BOUNDS },
    ...integers('integer', 32n),
  },
  bigint: {
    schema: { type: 'string', format: 'int64', pattern: SIGNED_INTEGER.source, maxLength: 20 },
    ...integers('bigint', 64n),
  },
  uuid: {
    schema: { type: 'string', format: 'uuid', pattern: UUID.source },
    expected: 'a UUID such as 123e4567-e89b-12d3-a456-426614174000',
    read: (text) => (UUID.test(text) ? text.toLowerCase() : undefined),
    bounds: { minimum: UUID_BOUND('0'), maximum: UUID_BOUND('f') },
    example: '123e4567-e89b-12d3-a456-426614174000',
  },
};

/** The type of identifiers with a column type. Any other than `integer`, `bigint` and `uuid` is a text. */
export function identifierType(columnType: unknown): IdentifierType {
  return TYPES[String(columnType)] ?? TEXT;
}

/** Whether identifiers of a column type are texts. */
export function isTextIdentifier(columnType: unknown): boolean {
  return identifierType(columnType) === TEXT;
}

/** An identifier in its canonical form; `undefined` if no object can have it. */
export function identifierFrom(columnType: unknown, text: string): string | undefined {
  const reading = identifierType(columnType).read(text);
  return typeof reading === 'string' ? reading : undefined;
}

function integers(type: string, bits: bigint): Omit<IdentifierType, 'schema'> {
  const [minimum, maximum] = [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
  return {
    expected: 'a plain decimal integer',
    read: (text) => {
      if (!SIGNED_INTEGER.test(text)) return undefined;
      const value = BigInt(text);
      return minimum <= value && value <= maximum
        ? String(value)
        : { beyond: [String(minimum), String(maximum)] };
    },
    bounds: { minimum: `'${minimum}'::${type}`, maximum: `'${maximum}'::${type}` },
    example: '1',
  };
}

/** A schema of JSON Schema 2020-12. */
export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly [keyword: string]: unknown;
}

/**
 * Values that a type has in PostgreSQL and JSON has no form for: `infinity`, `NaN`, years before 1 and after 9999. Lists show
 * the text that PostgreSQL has for them.
 */
export interface BeyondForm {
  /** The SQL condition that a value is none of these. */
  readonly isWithin: (reference: string) => string;
  /** The JSON schema of the values of an external table, which may have them. */
  readonly schema: ValueSchema;
}

const isFiniteNumber: BeyondForm['isWithin'] = (reference) =>
  `${reference} > '-Infinity' AND ${reference} < 'Infinity'`;
const OF_NUMBERS = 'NaN|-?Infinity';

export const BEYOND_DECIMALS: BeyondForm = {
  isWithin: isFiniteNumber,
  schema: { type: 'string', pattern: `${SIGNED_DECIMAL.source}|^(${OF_NUMBERS})$` },
};

export const BEYOND_DOUBLES: BeyondForm = {
  isWithin: isFiniteNumber,
  schema: { type: ['number', 'string'], format: 'double', pattern: `^(${OF_NUMBERS})$` },
};

/** The keywords of a date and of a time in the public form, without a type, since null has to meet them, too. */
export const DATE = { format: 'date', maxLength: 10 };
export const TIME = { format: 'date-time', maxLength: 24 };

export const BEYOND_DATES = beyondTimes(DATE);
export const BEYOND_TIMES = beyondTimes(TIME);

function beyondTimes(own: object): BeyondForm {
  const pattern = '^-?infinity$| BC$|^[1-9][0-9]{4}';
  return {
    isWithin: (reference) =>
      `${reference} >= '0001-01-01 00:00Z' AND ${reference} < '10000-01-01 00:00Z'`,
    schema: { type: 'string', anyOf: [own, { pattern }] },
  };
}

/** An SQL expression for a date or time as PostgreSQL writes it in JSON, whatever `DateStyle` is. */
export const jsonText = (reference: string): string => `(to_json(${reference}) #>> '{}')`;

/** An SQL expression for a time as RFC 3339 in UTC, with the text of PostgreSQL for a time that has no such form. */
export const timeText = (reference: string): string =>
  `CASE WHEN ${BEYOND_TIMES.isWithin(reference)}
    THEN to_char(${reference} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    ELSE ${jsonText(`${reference} AT TIME ZONE 'UTC'`)} END`;

/** The least text above all that begin with a text, by code point; `undefined` if there is none. */
export function textAbove(text: string): string | undefined {
  // The last two code units have the last character: each request for facets asks for several texts.
  const last = Array.from(text.slice(-2)).at(-1);
  if (last === undefined) return undefined;
  const rest = text.slice(0, -last.length);
  const point = last.codePointAt(0) ?? 0;
  if (point === 0x10ffff) return textAbove(rest);
  // No character has the code points of surrogates.
  return rest + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1);
}
