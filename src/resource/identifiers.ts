import { IDENTIFIER_LENGTH, isTextOf, SIGNED_INTEGER, UUID } from './formats.js';

/** How the values of a type of identifiers look in a request, and the least of them in SQL. */
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
  /** An SQL expression for the minimum of the type. */
  readonly minimum: string;
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

const TEXT: IdentifierType = {
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: IDENTIFIER_LENGTH,
    pattern: '^[^\\u0000]+$',
  },
  expected: `text of 1 to ${IDENTIFIER_LENGTH} characters`,
  read: (text) => (isTextOf(text, 1, IDENTIFIER_LENGTH) ? text : undefined),
  minimum: `''`,
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
    minimum: `'00000000-0000-0000-0000-000000000000'::uuid`,
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
    minimum: `'${minimum}'::${type}`,
    example: '1',
  };
}
