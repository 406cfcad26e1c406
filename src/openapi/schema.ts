import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { meaningOf } from '../resource/meaning.js';
import { fieldsOf } from '../resource/resource.js';

/** A schema, a parameter, a response or whatever else the document is made of. */
export type Json = Readonly<Record<string, unknown>>;

/** An object of exactly these properties, which it must have all unless said. */
export function objectOf(properties: Json, required = Object.keys(properties)): Json {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The content of a response in JSON. */
export function json(schema: Json): Json {
  return { 'application/json': { schema } };
}

/** One of a resource's objects; with `fields` it has fewer properties. */
export function resourceSchema(metadata: EntityMetadata): Json {
  const properties = fieldsOf(metadata).map((column) => {
    const { meaning, example } = meaningOf(metadata.target as object, column.propertyName) ?? {};
    const { type, enum: values, ...rest } = valueOf(column);
    const schema = {
      ...(meaning !== undefined && { description: meaning }),
      ...(type !== undefined && { type: column.isNullable ? [type, 'null'] : type }),
      ...(values && { enum: column.isNullable ? [...values, null] : values }),
      ...rest,
      ...(example !== undefined && { examples: [example] }),
    };
    return [column.propertyName, schema];
  });
  return {
    ...objectOf(Object.fromEntries(properties) as Json, []),
    minProperties: 1,
    description: 'Has every property, or exactly those that `fields` names.',
  };
}

interface ValueSchema extends Json {
  readonly type?: string;
  readonly enum?: readonly string[];
}

/** The public form of a column's values: see `publicForm`. */
function valueOf(column: ColumnMetadata): ValueSchema {
  switch (column.type) {
    case 'enum':
      return { type: 'string', enum: column.enum?.map(String) };
    case 'numeric':
      // As many digits as PostgreSQL keeps.
      return {
        type: 'string',
        format: 'decimal',
        pattern: '^-?[0-9]+(\\.[0-9]+)?$',
        maxLength: 147_457,
      };
    case 'integer':
      return {
        type: 'integer',
        format: 'int32',
        minimum: -2_147_483_648,
        maximum: 2_147_483_647,
        examples: [3],
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'timestamptz':
    case 'timestamp with time zone':
      return {
        type: 'string',
        format: 'date-time',
        maxLength: 24,
        examples: ['2026-11-21T12:00:00.000Z'],
      };
    case 'jsonb':
      // Whatever was loaded.
      return {};
    default:
      return {
        type: 'string',
        minLength: column.isPrimary ? 1 : 0,
        maxLength: Number(column.length),
        pattern: '^[^\\u0000]*$',
      };
  }
}
