import {
  type DeclaredParameter,
  InvalidValue,
  Parameter,
  type ParameterSchema,
  type ParameterSettings,
  separatedValues,
} from '../../http/parameters/declared-parameters.js';
import { errors } from '../../http/errors.js';
import {
  CURRENCY,
  IDENTIFIER_LENGTH,
  identifierType,
  INTEGER_BOUNDS,
  isTextOf,
  NAME_LENGTH,
  PLAIN_DECIMAL,
  PLAIN_INTEGER,
  readBoolean,
  readDate,
  readDateTime,
  readNumber,
  SIGNED_DECIMAL,
  SIGNED_INTEGER,
} from '../../resource/formats.js';

/** The value of a parameter, or each of several. */
interface Value {
  readonly schema: ParameterSchema;
  readonly example?: string;
  readonly read: (text: string) => unknown;
}

/** What the decorator of a filter takes after the meaning. */
export type FilterOptions = Pick<DeclaredParameter, 'reads'> & {
  /** A valid value. Default: that of the decorator; without one, that of the column of this name. */
  readonly example?: string;
};

interface TextOptions extends FilterOptions {
  /** Most characters of a text. */
  readonly maximum?: number;
}

type Decorator = (meaning: string, options?: FilterOptions) => PropertyDecorator;

function one(value: Value): Decorator {
  return (meaning, options) => Parameter({ meaning, ...value, ...options });
}

/** Values separated by commas. */
function several({ schema, example, read }: Value): Decorator {
  const readAll = (text: string): unknown => {
    const texts = separatedValues(text);
    if (!texts) {
      return mustBe(
        'values separated by commas, with double quotes around one that has a comma or begins with a double quote',
      );
    }
    const values = texts.map(read);
    return values.find((value) => value instanceof InvalidValue) ?? values;
  };
  return (meaning, options) =>
    Parameter({ meaning, schema: arrayOf(schema), example, read: readAll, ...options });
}

/** The schema of values separated by commas. */
export function arrayOf(items: ParameterSchema): ParameterSchema {
  return { type: 'array', items, minItems: 1 };
}

/** An invalid value that gets `-22`: the parameter must be `expected`. */
export function mustBe(expected: string): InvalidValue {
  return new InvalidValue((name) => errors.parameterInvalid(name, expected));
}

/** The inclusive bounds of an integer parameter, and its default. */
export interface Bounds {
  readonly minimum: number;
  readonly maximum: number;
  readonly default?: number;
}

/** The values of PostgreSQL's `integer` that are not negative. */
const UNSIGNED_BOUNDS: Bounds = { ...INTEGER_BOUNDS, minimum: 0 };

/**
 * A plain decimal integer. It has a `-` only if the bounds allow it. Property: `number`.
 *
 * @param bounds a function if the bounds depend on settings
 */
export function IntegerParam(
  meaning: string,
  bounds: Bounds | ((settings: ParameterSettings) => Bounds) = UNSIGNED_BOUNDS,
  options?: FilterOptions,
): PropertyDecorator {
  const boundsOf = typeof bounds === 'function' ? bounds : () => bounds;
  const schema = (settings: ParameterSettings): ParameterSchema => {
    const { minimum, maximum, ...rest } = boundsOf(settings);
    const format = maximum > INTEGER_BOUNDS.maximum ? 'int64' : 'int32';
    return { type: 'integer', format, minimum, maximum, ...rest };
  };
  const read = (text: string, settings: ParameterSettings): number | InvalidValue => {
    const { minimum, maximum } = boundsOf(settings);
    const form = minimum < 0 ? SIGNED_INTEGER : PLAIN_INTEGER;
    if (!form.test(text)) return mustBe('a plain decimal integer');
    const value = Number(text);
    // Adding 0 makes 0 of -0.
    if (value >= minimum && value <= maximum) return value + 0;
    return new InvalidValue((name) => errors.outOfRange(name, String(minimum), String(maximum)));
  };
  return Parameter({ meaning, schema, example: '1', read, ...options });
}

/** A plain decimal integer, with or without a `-`, for a column that may be negative. Property: `number`. */
export function SignedIntegerParam(meaning: string, options?: FilterOptions): PropertyDecorator {
  return IntegerParam(meaning, INTEGER_BOUNDS, options);
}

/** Integers, with or without a `-`, separated by commas. Property: `number[]`. */
export const IntegersParam = several({
  ...identifierType('integer'),
  read: (text) => {
    const value = readIdentifier('integer', text);
    return value instanceof InvalidValue ? value : Number(value);
  },
});

/** An integer of 64 bits. It stays text, so that it is not rounded. Property: `string`. */
export const BigintParam = one(identifier('bigint'));

/** Integers of 64 bits, separated by commas. Property: `string[]`. */
export const BigintsParam = several(identifier('bigint'));

/** A UUID, in upper or lower case. Property: `string`. */
export const UuidParam = one(identifier('uuid'));

/** UUIDs, separated by commas. Property: `string[]`. */
export const UuidsParam = several(identifier('uuid'));

/** An identifier of a column type, in its canonical form. Property: `string`. */
export function TypedIdentifier(
  meaning: string,
  type: unknown,
  readBeside?: DeclaredParameter['readBeside'],
): PropertyDecorator {
  return Parameter({ meaning, ...identifier(type), readBeside, reads: [] });
}

function identifier(columnType: unknown): Value {
  const { schema, example } = identifierType(columnType);
  return { schema, example, read: (text) => readIdentifier(columnType, text) };
}

/** The canonical text of an identifier; invalid with `-22`, or `-26` for a number out of range. */
export function readIdentifier(columnType: unknown, text: string): string | InvalidValue {
  const { read, expected } = identifierType(columnType);
  const reading = read(text);
  if (reading === undefined) return mustBe(expected);
  return typeof reading === 'string'
    ? reading
    : new InvalidValue((name) => errors.outOfRange(name, ...reading.beyond));
}

/** Digits with an optional decimal point. It stays text, so that it is not rounded. Property: `string`. */
export const DecimalParam = one(decimal(PLAIN_DECIMAL, 'a decimal number such as 19.99'));

/** As `DecimalParam`, with or without a `-`, for a column that may be negative. Property: `string`. */
export const SignedDecimalParam = one(decimal(SIGNED_DECIMAL, 'a decimal number such as -19.99'));

function decimal(form: RegExp, expected: string): Value {
  return {
    schema: { type: 'string', format: 'decimal', pattern: form.source },
    example: '19.99',
    read: (text) => (form.test(text) ? text : mustBe(expected)),
  };
}

/** A finite number as JSON writes it, such as `-2.5` or `1e-7`. Property: `number`. */
export const NumberParam = one({
  schema: { type: 'number', format: 'double' },
  example: '2.5',
  read: (text) => readNumber(text) ?? mustBe('a finite number such as 2.5'),
});

/** `true` or `false`. Property: `boolean`. */
export const BooleanParam = one({
  schema: { type: 'boolean' },
  example: 'true',
  read: (text) => readBoolean(text) ?? mustBe('true or false'),
});

/** A date, in the years 1 to 9999. Property: `string`. */
export const DateParam = one({
  schema: { type: 'string', format: 'date' },
  example: '2026-11-21',
  read: (text) => readDate(text) ?? mustBe('a date such as 2026-11-21'),
});

/** What a time parameter has. */
export const DATE_TIME = {
  schema: { type: 'string', format: 'date-time' },
  example: '2026-11-21T12:00:00Z',
  read: (text: string): Date | InvalidValue =>
    readDateTime(text) ??
    mustBe('an RFC 3339 time with a zone, such as 2026-11-21T12:00:00Z, URL-encoded'),
} as const satisfies Value;

/** An RFC 3339 time with a zone. Property: `Date`. */
export const DateTimeParam = one(DATE_TIME);

/** A text of 1 to `maximum` characters, by default 500. Property: `string`. */
export function TextParam(
  meaning: string,
  { maximum = NAME_LENGTH, ...options }: TextOptions = {},
): PropertyDecorator {
  return one(text(maximum))(meaning, options);
}

/** Texts of 1 to `maximum` characters, by default 500, separated by commas. Property: `string[]`. */
export function TextsParam(
  meaning: string,
  { maximum = NAME_LENGTH, ...options }: TextOptions = {},
): PropertyDecorator {
  return several(textAmongOthers('texts', maximum))(meaning, options);
}

/** An identifier. Property: `string`. */
export const IdentifierParam = one(text(IDENTIFIER_LENGTH));

/** Identifiers, separated by commas. Property: `string[]`. */
export const IdentifiersParam = several(textAmongOthers('identifiers', IDENTIFIER_LENGTH));

function text(maximum: number, expected = `text of 1 to ${maximum} characters`): Value {
  return {
    schema: { type: 'string', minLength: 1, maxLength: maximum, pattern: '^[^\\u0000]+$' },
    read: (value) => (isTextOf(value, 1, maximum) ? value : mustBe(expected)),
  };
}

function textAmongOthers(what: string, maximum: number): Value {
  return text(maximum, `${what} of 1 to ${maximum} characters, separated by commas`);
}

/** Currency codes, separated by commas. Property: `string[]`. */
export const CurrenciesParam = several({
  schema: { type: 'string', pattern: CURRENCY.source, minLength: 3, maxLength: 3 },
  example: 'EUR',
  read: (code) =>
    CURRENCY.test(code)
      ? code
      : mustBe('currency codes of ISO 4217 in capital letters, such as EUR, separated by commas'),
});

/** A value of an enumeration. Property: the enumeration's type. */
export function EnumParam(
  meaning: string,
  enumeration: Record<string, string>,
  options?: FilterOptions,
): PropertyDecorator {
  return one(valueOf(enumeration, (names) => `one of ${names}`))(meaning, options);
}

/** Values of an enumeration, separated by commas. Property: an array of the enumeration's type. */
export function EnumsParam(
  meaning: string,
  enumeration: Record<string, string>,
  options?: FilterOptions,
): PropertyDecorator {
  const expected = (names: string): string => `one or more of ${names}, separated by commas`;
  return several(valueOf(enumeration, expected))(meaning, options);
}

function valueOf(enumeration: Record<string, string>, expected: (names: string) => string): Value {
  const allowed = Object.values(enumeration);
  return {
    schema: { type: 'string', enum: allowed },
    example: allowed[0] ?? '',
    read: (value) => (allowed.includes(value) ? value : mustBe(expected(allowed.join(', ')))),
  };
}
