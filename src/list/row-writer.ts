import type { EntityMetadata } from 'typeorm';
import { fieldsOf } from '../resource/resource.js';
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
  const columns = fieldsOf(metadata).filter(
    ({ propertyName }) => !fields || fields.includes(propertyName),
  );
  const texts = columns.map(({ propertyName }) => `"${propertyName}"::text`).join(', ');
  const line = csvWriter(columns);
  return {
    header: csvHeader(columns),
    select: (query) => `SELECT ${texts} FROM (${query}) "#page"`,
    write: (rows) => rows.map(line).join(''),
  };
}
