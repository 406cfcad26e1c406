import type { EntityMetadata } from 'typeorm';
import { valuesOf } from './column-values.js';
import { fieldsOf } from './resource.js';

/**
 * The select list of a query on `object`: the public form of each field.
 *
 * @param names the fields to select; default: all
 */
export function selection(metadata: EntityMetadata, names: readonly string[] | undefined): string {
  return fieldsOf(metadata)
    .filter(({ propertyName }) => !names || names.includes(propertyName))
    .map((column) => {
      const form = valuesOf(column).publicForm(`object."${column.databaseName}"`);
      return `${form} AS "${column.propertyName}"`;
    })
    .join(', ');
}

/**
 * An SQL expression for the rows of a query, in order, as the JSON text of an array. The alias `#page`
 * cannot be the name of a column: `row_to_json` would take the column instead of the row.
 */
export function jsonArray(query: string): string {
  return `(SELECT coalesce('[' || string_agg(row_to_json("#page")::text, ',') || ']', '[]') FROM (${query}) "#page")`;
}
