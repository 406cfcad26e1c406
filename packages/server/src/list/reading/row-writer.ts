import type { EntityMetadata } from 'typeorm';
import { selectedColumns, selectedRelated } from '../../resource/selection.js';
import type { StreamFormat } from '../../http/negotiation.js';

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

/** Makes the writer of a format. Without `fields`, it writes all. */
export const ROW_WRITERS: Readonly<
  Record<
    StreamFormat,
    (metadata: EntityMetadata, fields: readonly string[] | undefined) => RowWriter
  >
> = { ndjson: ndjsonWriter, csv: csvWriter };

function ndjsonWriter(): RowWriter {
  return {
    header: '',
    // The same expression as for a page, so that an object has the same bytes in both.
    select: (query) => `SELECT row_to_json("#page")::text FROM (${query}) "#page"`,
    write: (rows) => rows.map(([object]) => `${object}\n`).join(''),
  };
}

function csvWriter(metadata: EntityMetadata, fields: readonly string[] | undefined): RowWriter {
  const columns = csvColumns(metadata, fields);
  return {
    header: line(columns.map(({ name }) => name)),
    select: (query) =>
      `SELECT ${columns.map(({ text }) => text).join(', ')} FROM (${query}) "#page"`,
    write: (rows) => rows.map(line).join(''),
  };
}

interface CsvColumn {
  readonly name: string;
  /** Its value as text, as an SQL expression on a row of `selection`. */
  readonly text: string;
}

/**
 * The fields of each object; those of a related object have columns such as `brand.name`. Children are a list in JSON, with
 * their number behind it.
 */
function csvColumns(metadata: EntityMetadata, fields: readonly string[] | undefined): CsvColumn[] {
  return [
    ...selectedColumns(metadata, fields).map(({ propertyName: name }) => ({
      name,
      text: `"${name}"::text`,
    })),
    ...selectedRelated(metadata, fields).flatMap(([{ name, metadata: other, children }, names]) =>
      children
        ? [name, `${name}Count`].map((each) => ({ name: each, text: `"${each}"::text` }))
        : selectedColumns(other, names).map(({ propertyName }) => ({
            name: `${name}.${propertyName}`,
            text: `"${name}"->>'${propertyName}'`,
          })),
    ),
  ];
}

/** A line of CSV, RFC 4180. A null is an empty cell, and an empty text one in quotes. */
function line(cells: readonly (string | null)[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}

function quoted(value: string | null): string {
  if (value === null) return '';
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
