import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { errors } from '../http/errors.js';
import { InvalidValue } from '../http/invalid-value.js';
import {
  IDENTIFIER_LENGTH,
  isText,
  isTextOf,
  NAME_LENGTH,
  PLAIN_DECIMAL,
  PLAIN_INTEGER,
  readBoolean,
  readDateTime,
} from './formats.js';

/** Reads a parameter's text, or says how it is refused. */
export type Read<T> = (text: string) => T | InvalidValue;

/** By the prototype of a query class: a value of each of its own parameters. */
const examples = new WeakMap<object, Map<string, unknown>>();

/** The parameters that a query class declares itself, each with a value that it takes. */
export function parametersOf(query: { prototype: object }): ReadonlyMap<string, unknown> {
  return examples.get(query.prototype) ?? new Map<string, unknown>();
}

/**
 * A parameter of a query class whose text `read` turns into the property's value.
 *
 * @param example a text that it takes
 */
export function Parameter<T>(example: string, read: Read<T>): PropertyDecorator {
  return applyDecorators(
    (query: object, name: string | symbol) => {
      const known = examples.get(query) ?? new Map<string, unknown>();
      examples.set(query, known.set(String(name), read(example)));
    },
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? read(value) : value)),
    ValidateBy({
      name: 'isReadable',
      validator: { validate: (value) => !(value instanceof InvalidValue) },
    }),
  );
}

/** `-22`: the parameter must be `expected`. */
export function mustBe(expected: string): InvalidValue {
  return new InvalidValue((name) => errors.parameterInvalid(name, expected));
}

/** The integers that a column of PostgreSQL holds and a plain decimal integer can be. */
const INTEGER = { least: 0, most: 2_147_483_647 };

/** A plain decimal integer between `least` and `most`, both allowed. Property: `number`. */
export function IntegerParam(bounds: { least: number; most: number } = INTEGER): PropertyDecorator {
  return Parameter('1', (text) => {
    if (!PLAIN_INTEGER.test(text)) return mustBe('a plain decimal integer');
    const { least, most } = bounds;
    const value = Number(text);
    if (value >= least && value <= most) return value;
    return new InvalidValue((name) => errors.outOfRange(name, String(least), String(most)));
  });
}

/** Plain digits with an optional point; kept as text, so that nothing is rounded. Property: `string`. */
export function DecimalParam(): PropertyDecorator {
  return Parameter('19.99', (text) =>
    PLAIN_DECIMAL.test(text) ? text : mustBe('a decimal number such as 19.99'),
  );
}

/** `true` or `false`. Property: `boolean`. */
export function BooleanParam(): PropertyDecorator {
  return Parameter('true', (text) => readBoolean(text) ?? mustBe('true or false'));
}

/** An RFC 3339 time with a zone. Property: `Date`. */
export function DateTimeParam(): PropertyDecorator {
  return Parameter(
    '2026-11-21T12:00:00Z',
    (text) =>
      readDateTime(text) ??
      mustBe('an RFC 3339 time with a zone, such as 2026-11-21T12:00:00Z, URL-encoded'),
  );
}

/** A text of one to `most` characters, compared as a whole. Property: `string`. */
export function TextParam(most = NAME_LENGTH): PropertyDecorator {
  return Parameter('a', (text) =>
    isTextOf(text, 1, most) ? text : mustBe(`text of 1 to ${most} characters`),
  );
}

/** One or more such texts, separated by commas. Property: `string[]`. */
export function TextsParam(most = NAME_LENGTH): PropertyDecorator {
  return several('texts', most);
}

/** Words to look for, in any order and case. Property: `string`. */
export function WordsParam(): PropertyDecorator {
  return Parameter('a', (text) =>
    isText(text) && /[\p{L}\p{N}]/u.test(text) ? text : mustBe('one or more words'),
  );
}

/** An identifier. Property: `string`. */
export function IdentifierParam(): PropertyDecorator {
  return TextParam(IDENTIFIER_LENGTH);
}

/** One or more identifiers, separated by commas. Property: `string[]`. */
export function IdentifiersParam(): PropertyDecorator {
  return several('identifiers', IDENTIFIER_LENGTH);
}

function several(what: string, most: number): PropertyDecorator {
  return Parameter('a,b', (text) => {
    const texts = text.split(',');
    return texts.every((each) => isTextOf(each, 1, most))
      ? texts
      : mustBe(`${what} of 1 to ${most} characters, separated by commas`);
  });
}

/** One of an enumeration's values. Property: its type. */
export function EnumParam(enumeration: Record<string, string>): PropertyDecorator {
  const allowed = Object.values(enumeration);
  return Parameter(allowed[0] ?? '', (text) =>
    allowed.includes(text) ? text : mustBe(`one of ${allowed.join(', ')}`),
  );
}

/** One or more of an enumeration's values, separated by commas. Property: an array of its type. */
export function EnumsParam(enumeration: Record<string, string>): PropertyDecorator {
  const allowed = Object.values(enumeration);
  return Parameter(allowed[0] ?? '', (text) => {
    const values = text.split(',');
    return values.every((value) => allowed.includes(value))
      ? values
      : mustBe(`one or more of ${allowed.join(', ')}, separated by commas`);
  });
}
