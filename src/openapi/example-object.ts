import type { EntityMetadata } from 'typeorm';
import { valuesOf } from '../resource/column-values.js';
import { meaningOf } from '../resource/meaning.js';
import { fieldsOf } from '../resource/resource.js';

/**
 * An object of a resource, made of the examples of its fields: null for one without an example, if it
 * may be null.
 */
export function exampleObject(metadata: EntityMetadata): Record<string, unknown> {
  return Object.fromEntries(
    fieldsOf(metadata).map((column) => [column.propertyName, exampleValue(column, metadata)]),
  );
}

function exampleValue(
  column: ReturnType<typeof fieldsOf>[number],
  { target }: EntityMetadata,
): unknown {
  const { type, enum: values, examples } = valuesOf(column).schema(column);
  const text = meaningOf(target as object, column.propertyName)?.example;
  if (text !== undefined) return type === 'integer' ? Number(text) : text;
  const [example] = (examples as unknown[] | undefined) ?? values ?? [];
  if (example !== undefined) return example;
  if (column.isNullable) return null;
  return type === 'boolean' ? true : type === 'string' ? 'a' : {};
}
