import type { EntityMetadata } from 'typeorm';
import { publicForm } from './column-types.js';
import { fieldsOf } from './resource.js';

/** What a query on `object` selects: the public form of the fields named, all unless given. */
export function selection(metadata: EntityMetadata, names: readonly string[] | undefined): string {
  return fieldsOf(metadata)
    .filter(({ propertyName }) => !names || names.includes(propertyName))
    .map((column) => {
      const form = publicForm(column, `object."${column.databaseName}"`);
      return `${form} AS "${column.propertyName}"`;
    })
    .join(', ');
}

/**
 * The rows of a query as the JSON text of an array, in their order. Under a name that no column can
 * bear, which would be taken for the row.
 */
export function jsonArray(query: string): string {
  return `(SELECT coalesce('[' || string_agg(row_to_json("#page")::text, ',') || ']', '[]') FROM (${query}) "#page")`;
}
