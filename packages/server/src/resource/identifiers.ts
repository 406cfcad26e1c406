import { IDENTIFIER_LENGTH, isTextOf, SIGNED_INTEGER, UUID } from './formats.js';

/** How the values of a type of identifiers look in a request, and their bounds in SQL. */
export interface IdentifierType {
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
