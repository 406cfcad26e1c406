import {
  type DeclaredParameter,
  InvalidValue,
  Parameter,
  type ParameterSchema,
  type ParameterSettings,
} from '../../http/parameters/declared-parameters.js';
import { errors } from '../../http/errors.js';
import { identifierType, INTEGER_BOUNDS } from '../../resource/identifiers.js';
import {
  CURRENCY,
  IDENTIFIER_LENGTH,
  isTextOf,
  NAME_LENGTH,
  PLAIN_DECIMAL,
  PLAIN_INTEGER,
  readBoolean,
  readDate,
  readDateTime,
  readNumber,
} from '../../resource/formats.js';

/** An invalid value that gets `-22`: the parameter must be `expected`. */
export function mustBe(expected: string): InvalidValue {
  return new InvalidValue((name) => errors.parameterInvalid(name, expected));
}

/** Declares values separated by commas, of which `read` reads one. */
function Several(
  meaning: string,
  items: ParameterSchema,
  example: string,
  read: (text: string) => unknown,
): PropertyDecorator {
  return Parameter({ meaning, schema: arrayOf(items), example }, (text) => {
    const values = text.split(',').map(read);
    return values.find((value) => value instanceof InvalidValue) ?? values;
  });
}

/** The schema of values separated by commas. */
export function arrayOf(items: ParameterSchema): ParameterSchema {
  return { type: 'array', items, minItems: 1 };
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
): PropertyDecorator {
  const boundsOf = typeof bounds === 'function' ? bounds : () => bounds;
  const schema = (settings: ParameterSettings): ParameterSchema => {
    const { minimum, maximum, ...rest } = boundsOf(settings);
    const format = maximum > INTEGER_BOUNDS.maximum ? 'int64' : 'int32';
    return { type: 'integer', format, minimum, maximum, ...rest };
  };
  return Parameter({ meaning, schema, example: '1' }, (text, settings) => {
    const { minimum, maximum } = boundsOf(settings);
    if (!PLAIN_INTEGER.test(minimum < 0 ? unsigned(text) : text)) {
      return mustBe('a plain decimal integer');
    }
    const value = Number(text);
    // Adding 0 makes 0 of -0.
    if (value >= minimum && value <= maximum) return value + 0;
    return new InvalidValue((name) => errors.outOfRange(name, String(minimum), String(maximum)));
  });
}

/** A plain decimal integer, with or without a `-`, for a column that may be negative. Property: `number`. */
export function SignedIntegerParam(meaning: string): PropertyDecorator {
  return IntegerParam(meaning, INTEGER_BOUNDS);
}

/** Integers, with or without a `-`, separated by commas. Property: `number[]`. */
export function IntegersParam(meaning: string): PropertyDecorator {
  const { schema, example } = identifierType('integer');
  return Several(meaning, schema, example, (text) => {
    const value = readIdentifier('integer', text);
    return value instanceof InvalidValue ? value : Number(value);
  });
}

/** An integer of 64 bits. It stays text, so that it is not rounded. Property: `string`. */
export function BigintParam(meaning: string): PropertyDecorator {
  return TypedIdentifier(meaning, 'bigint');
}

/** Integers of 64 bits, separated by commas. Property: `string[]`. */
export function BigintsParam(meaning: string): PropertyDecorator {
  return TypedIdentifiers(meaning, 'bigint');
}

/** A UUID, in upper or lower case. Property: `string`. */
export function UuidParam(meaning: string): PropertyDecorator {
  return TypedIdentifier(meaning, 'uuid');
}

/** UUIDs, separated by commas. Property: `string[]`. */
export function UuidsParam(meaning: string): PropertyDecorator {
  return TypedIdentifiers(meaning, 'uuid');
}

/** An identifier of a column type, in its canonical form. Property: `string`. */
export function TypedIdentifier(meaning: string, type: unknown): PropertyDecorator {
  const { schema, example } = identifierType(type);
  return Parameter({ meaning, schema, example }, (text) => readIdentifier(type, text));
}

function TypedIdentifiers(meaning: string, type: string): PropertyDecorator {
  const { schema, example } = identifierType(type);
  return Several(meaning, schema, example, (text) => readIdentifier(type, text));
}

/** The canonical text of an identifier; invalid with `-22`, or `-26` for a number out of range. */
export function readIdentifier(columnType: unknown, text: string): string | InvalidValue {
  const { read, expected } = identifierType(columnType);
  const reading = read(text);
  if ('value' in reading) return reading.value;
  return 'beyond' in reading
    ? new InvalidValue((name) => errors.outOfRange(name, ...reading.beyond))
    : mustBe(expected);
}

/** Digits with an optional decimal point. It stays text, so that it is not rounded. Property: `string`. */
export function DecimalParam(meaning: string): PropertyDecorator {
  const schema = { type: 'string', format: 'decimal', pattern: PLAIN_DECIMAL.source } as const;
  return Parameter({ meaning, schema, example: '19.99' }, (text) =>
    PLAIN_DECIMAL.test(text) ? text : mustBe('a decimal number such as 19.99'),
  );
}

/** As `DecimalParam`, with or without a `-`, for a column that may be negative. Property: `string`. */
export function SignedDecimalParam(meaning: string): PropertyDecorator {
  const pattern = PLAIN_DECIMAL.source.replace('^', '^-?');
  const schema = { type: 'string', format: 'decimal', pattern } as const;
  return Parameter({ meaning, schema, example: '19.99' }, (text) =>
    PLAIN_DECIMAL.test(unsigned(text)) ? text : mustBe('a decimal number such as -19.99'),
  );
}

/** A finite number as JSON writes it, such as `-2.5` or `1e-7`. Property: `number`. */
export function NumberParam(meaning: string): PropertyDecorator {
  const schema = { type: 'number', format: 'double' } as const;
  return Parameter(
    { meaning, schema, example: '2.5' },
    (text) => readNumber(text) ?? mustBe('a finite number such as 2.5'),
  );
}

/** A text without its `-`. */
function unsigned(text: string): string {
  return text.replace(/^-/, '');
}

/** `true` or `false`. Property: `boolean`. */
export function BooleanParam(meaning: string): PropertyDecorator {
  return Parameter(
    { meaning, schema: { type: 'boolean' }, example: 'true' },
    (text) => readBoolean(text) ?? mustBe('true or false'),
  );
}

/** A date, in the years 1 to 9999. Property: `string`. */
export function DateParam(meaning: string): PropertyDecorator {
  const schema = { type: 'string', format: 'date' } as const;
  return Parameter(
    { meaning, schema, example: '2026-11-21' },
    (text) => readDate(text) ?? mustBe('a date such as 2026-11-21'),
  );
}

/** An RFC 3339 time with a zone. Property: `Date`. */
export function DateTimeParam(meaning: string): PropertyDecorator {
  return Parameter(dateTime(meaning), (text) => readDateTime(text) ?? mustBeDateTime());
}

const DATE_TIME = '2026-11-21T12:00:00Z';

/** The declaration of a time parameter. */
export function dateTime(meaning: string): DeclaredParameter {
  const schema = { type: 'string', format: 'date-time' } as const;
  return { meaning, schema, example: DATE_TIME };
}

/** An invalid time, which gets `-22`. */
export function mustBeDateTime(): InvalidValue {
  return mustBe(`an RFC 3339 time with a zone, such as ${DATE_TIME}, URL-encoded`);
}

/** A text of 1 to `maximum` characters. Property: `string`. */
export function TextParam(meaning: string, maximum = NAME_LENGTH): PropertyDecorator {
  return Parameter({ meaning, schema: textOf(maximum), example: 'a' }, (text) =>
    isTextOf(text, 1, maximum) ? text : mustBe(`text of 1 to ${maximum} characters`),
  );
}

/** Texts of 1 to `maximum` characters, separated by commas. Property: `string[]`. */
export function TextsParam(meaning: string, maximum = NAME_LENGTH): PropertyDecorator {
  return Texts(meaning, 'texts', maximum);
}

/** An identifier. Property: `string`. */
export function IdentifierParam(meaning: string): PropertyDecorator {
  return TextParam(meaning, IDENTIFIER_LENGTH);
}

/**
 * Identifiers, separated by commas. Property: `string[]`.
 *
 * @param example by default that of the column of this name
 */
export function IdentifiersParam(meaning: string, example?: string): PropertyDecorator {
  return Texts(meaning, 'identifiers', IDENTIFIER_LENGTH, example);
}

function Texts(meaning: string, what: string, maximum: number, example = 'a,b'): PropertyDecorator {
  const schema = { ...textOf(maximum), pattern: '^[^,\\u0000]+$' };
  return Several(meaning, schema, example, (text) =>
    isTextOf(text, 1, maximum)
      ? text
      : mustBe(`${what} of 1 to ${maximum} characters, separated by commas`),
  );
}

/** Currency codes, separated by commas. Property: `string[]`. */
export function CurrenciesParam(meaning: string): PropertyDecorator {
  const schema = { type: 'string', pattern: CURRENCY.source, minLength: 3, maxLength: 3 } as const;
  return Several(meaning, schema, 'EUR', (text) =>
    CURRENCY.test(text)
      ? text
      : mustBe('currency codes of ISO 4217 in capital letters, such as EUR, separated by commas'),
  );
}

/** A value of an enumeration. Property: the enumeration's type. */
export function EnumParam(meaning: string, enumeration: Record<string, string>): PropertyDecorator {
  const allowed = Object.values(enumeration);
  const schema = { type: 'string', enum: allowed } as const;
  return Parameter({ meaning, schema, example: allowed[0] ?? '' }, (text) =>
    allowed.includes(text) ? text : mustBe(`one of ${allowed.join(', ')}`),
  );
}

/** Values of an enumeration, separated by commas. Property: an array of the enumeration's type. */
export function EnumsParam(
  meaning: string,
  enumeration: Record<string, string>,
): PropertyDecorator {
  const allowed = Object.values(enumeration);
  return Several(meaning, { type: 'string', enum: allowed }, allowed[0] ?? '', (text) =>
    allowed.includes(text)
      ? text
      : mustBe(`one or more of ${allowed.join(', ')}, separated by commas`),
  );
}

function textOf(maxLength: number): ParameterSchema {
  return { type: 'string', minLength: 1, maxLength, pattern: '^[^\\u0000]+$' };
}
