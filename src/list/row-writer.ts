import type { EntityMetadata } from 'typeorm';
import { fieldsOf } from '../resource/resource.js';
import { csvHeader, csvWriter } from './csv.js';
import type { StreamFormat } from './prepared-list.js';

/** Rows as node-postgres gives them with `rowMode: 'array'`, all values as text. */
export type Rows = (string | null)[][];

/** How the objects of a whole list are selected and written. */
export interface RowWriter {
  /** Comes before the first object. */
  readonly header: string;
  /** Wraps a query for objects. */
  readonly select: (query: string) => string;
  readonly write: (rows: Rows) => string;
}

/** @param fields those that are written; default: all */
export function rowWriter(
  format: StreamFormat,
  metadata: EntityMetadata,
  fields: readonly string[] | undefined,
): RowWriter {
  if (format === 'ndjson') {
    return {
      header: '',
      // The same expression as in a page, so that the bytes of an object are the same.
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
