import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { valuesOf } from '../resource/column-values.js';
import type { CellFormat } from '../resource/json-cell.js';
import { isSameNumber, JsonText } from '../resource/json-text.js';
import { EMPTY_QUOTES } from './csv-reader.js';

/** A value as PostgreSQL reads it, or what it must be instead. */
export type CellReading = { readonly value: string | null } | { readonly mustBe: string };

/**
 * Makes the reader of a column's cells: the text of a CSV file, or any value of an NDJSON one.
 *
 * @throws TypeError for a column whose type cannot be imported
 */
export function cellReader(column: ColumnMetadata): (cell: unknown) => CellReading {
  const format = valuesOf(column).cell(column);
  const nothing = hasNull(column) ? { value: null } : { mustBe: 'given' };
  return (cell) => {
    if (cell === null) return nothing;
    if (cell === EMPTY_QUOTES) return format.read('') === undefined ? nothing : { value: '' };
    const value =
      cell instanceof JsonText
        ? readJsonText(format, cell)
        : format.read((cell as string | boolean).toString());
    return value === undefined
      ? { mustBe: format.expectedOf?.(cell) ?? format.expected }
      : { value };
  };
}

/** Reads a number by its text, and else as JavaScript writes it, if that is an equal number: `5` for `5.0`. */
function readJsonText({ read, readObject }: CellFormat, json: JsonText): string | undefined {
  if (typeof json.value !== 'number') return readObject?.(json);
  const text = String(json.value);
  return read(json.text) ?? (isSameNumber(json.text, text) ? read(text) : undefined);
}

/** Whether a row may leave a column empty: it may be null, or the database has a value for it. */
export function hasNull({ isNullable, isCreateDate, default: value }: ColumnMetadata): boolean {
  return isNullable || isCreateDate || value !== undefined;
}
