import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { fieldsOf } from '../../resource/resource.js';
import { selectedRelated } from '../../resource/selection.js';
import { csvHeader, csvWriter } from './csv.js';
import type { StreamFormat } from './prepared-list.js';

/** Rows as node-postgres returns them with `rowMode: 'array'`, with all values as text. */
export type Rows = (string | null)[][];

/** Selects and formats the objects of a whole list. */
export interface RowWriter {
  /** The text before the first object. */
  readonly header: string;
  /** Wraps a query for objects, so that it selects what `write` takes. */
  readonly select: (query: string) => string;
  readonly write: (rows: Rows) => string;
}

/** @param fields the fields to write; default: all */
export function rowWriter(
  format: StreamFormat,
  metadata: EntityMetadata,
  fields: readonly string[] | undefined,
): RowWriter {
  if (format === 'ndjson') {
    return {
      header: '',
      // The same expression as for a page, so that an object has the same bytes in both.
      select: (query) => `SELECT row_to_json("#page")::text FROM (${query}) "#page"`,
      write: (rows) => rows.map(([object]) => `${object}\n`).join(''),
    };
  }
  const columns = csvColumns(metadata, fields);
  const line = csvWriter(columns.map(({ column }) => column));
  return {
    header: csvHeader(columns.map(({ name }) => name)),
    select: (query) =>
      `SELECT ${columns.map(({ text }) => text).join(', ')} FROM (${query}) "#page"`,
    write: (rows) => rows.map(line).join(''),
  };
}

/** A column of CSV. */
interface CsvColumn {
  readonly name: string;
  readonly column: ColumnMetadata;
  /** Its value as text, as an SQL expression on a row of `selection`. */
  readonly text: string;
}

/** The fields of each object; those of a related object have columns such as `brand.name`. */
function csvColumns(metadata: EntityMetadata, fields: readonly string[] | undefined): CsvColumn[] {
  const own = fieldsOf(metadata)
    .filter(({ propertyName }) => !fields || fields.includes(propertyName))
    .map((column) => ({
      name: column.propertyName,
      column,
      text: `"${column.propertyName}"::text`,
    }));
  const related = selectedRelated(metadata, fields).flatMap(([{ name, metadata: other }, names]) =>
    fieldsOf(other)
      .filter(({ propertyName }) => names.includes(propertyName))
      .map((column) => ({
        name: `${name}.${column.propertyName}`,
        column,
        text: `"${name}"->>'${column.propertyName}'`,
      })),
  );
  return [...own, ...related];
}
