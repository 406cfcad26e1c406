import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { valuesOf } from '../../resource/column-values.js';
import { selectedColumns, selectedRelated } from '../../resource/selection.js';
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
    write: (rows) =>
      rows.map((row) => line(row.map((value, at) => cell(value, columns[at])))).join(''),
  };
}

interface CsvColumn {
  readonly name: string;
  readonly isFreeText: boolean;
  /** Its value as text, as an SQL expression on a row of `selection`. */
  readonly text: string;
}

/**
 * The fields of each object; those of a related object have columns such as `brand.name`. Children are a list in JSON, with
 * their number behind it.
 */
function csvColumns(metadata: EntityMetadata, fields: readonly string[] | undefined): CsvColumn[] {
  const columnOf = (field: ColumnMetadata, name: string, text: string): CsvColumn => ({
    name,
    isFreeText: valuesOf(field).isFreeText ?? true,
    text,
  });
  return [
    ...selectedColumns(metadata, fields).map((field) =>
      columnOf(field, field.propertyName, `"${field.propertyName}"::text`),
    ),
    ...selectedRelated(metadata, fields).flatMap(([{ name, metadata: other, children }, names]) =>
      children
        ? [name, `${name}Count`].map((each) => ({
            name: each,
            isFreeText: false,
            text: `"${each}"::text`,
          }))
        : selectedColumns(other, names).map((field) =>
            columnOf(field, `${name}.${field.propertyName}`, `"${name}"->>'${field.propertyName}'`),
          ),
    ),
  ];
}

/**
 * A value for a cell of CSV. What a spreadsheet would run as a formula
 * (https://owasp.org/www-community/attacks/CSV_Injection) has a quote before it, so that it is shown; a number is
 * none, also below zero.
 */
function cell(value: string | null, column: CsvColumn | undefined): string | null {
  return value !== null && column?.isFreeText && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
}

/** A line of CSV, RFC 4180. A null is an empty cell, and an empty text one in quotes. */
function line(cells: readonly (string | null)[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}

function quoted(value: string | null): string {
  if (value === null) return '';
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
