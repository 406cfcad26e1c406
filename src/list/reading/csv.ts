import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { valuesOf } from '../../resource/column-values.js';

/** A line of names. */
export function csvHeader(names: readonly string[]): string {
  return line(names.map(quoted));
}

/**
 * Makes the lines of rows, RFC 4180. A null is an empty cell, and an empty text one in quotes. What
 * a spreadsheet would run as a formula (https://owasp.org/www-community/attacks/CSV_Injection) has
 * a quote before it, so that it is shown; a number is none, also below zero.
 */
export function csvWriter(
  columns: readonly ColumnMetadata[],
): (row: readonly (string | null)[]) => string {
  const guarded = columns.map((column) => valuesOf(column).isFreeText);
  return (row) => line(row.map((value, at) => (value === null ? '' : cell(value, guarded[at]))));
}

function cell(value: string, guard = true): string {
  return quoted(guard && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value);
}

function quoted(value: string): string {
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

function line(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}
