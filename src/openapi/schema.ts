import type { EntityMetadata } from 'typeorm';
import { valuesOf } from '../resource/column-values.js';
import { meaningOf } from '../resource/meaning.js';
import { relatedOf } from '../resource/related.js';
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

/**
 * One of a resource's objects; with `fields` it has fewer properties.
 *
 * @param included the names of the related objects that a list may include
 */
export function resourceSchema(metadata: EntityMetadata, included: readonly string[] = []): Json {
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
  const related = relatedOf(metadata)
    .filter(({ name }) => included.includes(name))
    .map(({ name, column, metadata: { name: schema } }) => [
      name,
      {
        description: `The object that \`${column.propertyName}\` refers to; null if there is none.`,
        anyOf: [{ $ref: `#/components/schemas/${schema}` }, { type: 'null' }],
      },
    ]);
  return {
    ...objectOf(Object.fromEntries([...properties, ...related]) as Json, []),
    minProperties: 1,
    description: `Has every property, or exactly those that \`fields\` names${
      related.length === 0 ? '' : '; a related object if `include` or `fields` names it'
    }.`,
  };
}
