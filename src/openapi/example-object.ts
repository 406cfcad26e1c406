import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { valuesOf } from '../resource/column-values.js';
import { meaningOf } from '../resource/meaning.js';
import { fieldsOf } from '../resource/resource.js';

/** The example that the entity gives of a field; `undefined` if it gives none. */
export function ownExample(column: ColumnMetadata, { target }: EntityMetadata): unknown {
  const { example } = meaningOf(target as object, column.propertyName) ?? {};
  if (example !== undefined && column.type === 'jsonb') return JSON.parse(example);
  const { type = '' } = valuesOf(column).schema(column);
  if (type === 'array') return example?.split(',');
  const isNumber = ['integer', 'number'].includes(type);
  return isNumber && example !== undefined ? Number(example) : example;
}

/**
 * An object of a resource, made of the examples of its fields. A field without an example is null, if it
 * may be null.
 */
export function exampleObject(metadata: EntityMetadata): Record<string, unknown> {
  return Object.fromEntries(
    fieldsOf(metadata).map((column) => [
      column.propertyName,
      ownExample(column, metadata) ?? exampleOfType(column),
    ]),
  );
}

function exampleOfType(column: ColumnMetadata): unknown {
  const { type, enum: values, examples } = valuesOf(column).schema(column);
  const [example] = (examples as unknown[] | undefined) ?? values ?? [];
  if (example !== undefined) return example;
  if (column.isNullable) return null;
  return type === 'boolean' ? true : type === 'string' ? 'a' : {};
}
