import type { EntityMetadata } from 'typeorm';
import { valuesOf } from '../resource/column-values.js';
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
    const { type, enum: values, ...rest } = valuesOf(column).schema(column);
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
