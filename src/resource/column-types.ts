import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

/**
 * The SQL expression of a column's public form, which `row_to_json` then writes as the contract
 * has it: a decimal as text, a time as RFC 3339 in UTC with milliseconds.
 *
 * @param reference the column in SQL
 */
export function publicForm(column: ColumnMetadata, reference: string): string {
  switch (column.type) {
    case 'numeric':
      return `(${reference})::text`;
    case 'timestamptz':
    case 'timestamp with time zone':
      return `to_char(${reference} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    default:
      return reference;
  }
}
