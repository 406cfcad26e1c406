import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { errors } from '../http/errors.js';
import { InvalidValue } from '../http/invalid-value.js';
import {
  IDENTIFIER_LENGTH,
  isText,
  isTextOf,
  PLAIN_DECIMAL,
  PLAIN_INTEGER,
  readBoolean,
  readDateTime,
} from './formats.js';

/** Reads a parameter's text, or says how it is refused. */
export type Read<T> = (text: string) => T | InvalidValue;

/** A parameter of a query class whose text `read` turns into the property's value. */
export function Parameter<T>(read: Read<T>): PropertyDecorator {
  return applyDecorators(
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

/** A plain decimal integer between `least` and `most`, both allowed. Property: `number`. */
export function IntegerParam(bounds: { least: number; most: number }): PropertyDecorator {
  return Parameter((text) => {
    if (!PLAIN_INTEGER.test(text)) return mustBe('a plain decimal integer');
    const { least, most } = bounds;
    const value = Number(text);
    if (value >= least && value <= most) return value;
    return new InvalidValue((name) => errors.outOfRange(name, String(least), String(most)));
  });
}

/** Plain digits with an optional point; kept as text, so that nothing is rounded. Property: `string`. */
export function DecimalParam(): PropertyDecorator {
  return Parameter((text) =>
    PLAIN_DECIMAL.test(text) ? text : mustBe('a decimal number such as 19.99'),
  );
}

/** `true` or `false`. Property: `boolean`. */
export function BooleanParam(): PropertyDecorator {
  return Parameter((text) => readBoolean(text) ?? mustBe('true or false'));
}

/** An RFC 3339 time with a zone. Property: `Date`. */
export function DateTimeParam(): PropertyDecorator {
  return Parameter(
    (text) =>
      readDateTime(text) ??
      mustBe('an RFC 3339 time with a zone, such as 2026-11-21T12:00:00Z, URL-encoded'),
  );
}

/** A text of one to `most` characters, compared as a whole. Property: `string`. */
export function TextParam(most = 500): PropertyDecorator {
  return Parameter((text) =>
    isTextOf(text, 1, most) ? text : mustBe(`text of 1 to ${most} characters`),
  );
}

/** Words to look for, in any order and case. Property: `string`. */
export function WordsParam(): PropertyDecorator {
  return Parameter((text) =>
    isText(text) && /[\p{L}\p{N}]/u.test(text) ? text : mustBe('one or more words'),
  );
}

/** An identifier. Property: `string`. */
export function IdentifierParam(): PropertyDecorator {
  return TextParam(IDENTIFIER_LENGTH);
}

/** One or more identifiers, separated by commas. Property: `string[]`. */
export function IdentifiersParam(): PropertyDecorator {
  return Parameter((text) => {
    const identifiers = text.split(',');
    return identifiers.every((identifier) => isTextOf(identifier, 1, IDENTIFIER_LENGTH))
      ? identifiers
      : mustBe(`identifiers of 1 to ${IDENTIFIER_LENGTH} characters, separated by commas`);
  });
}

/** One or more of an enumeration's values, separated by commas. Property: an array of its type. */
export function EnumsParam(enumeration: Record<string, string>): PropertyDecorator {
  const allowed = Object.values(enumeration);
  return Parameter((text) => {
    const values = text.split(',');
    return values.every((value) => allowed.includes(value))
      ? values
      : mustBe(`one or more of ${allowed.join(', ')}, separated by commas`);
  });
}
