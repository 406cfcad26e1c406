import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { hasItsDigits } from '../resource/column-types.js';
import { valuesOf } from '../resource/column-values.js';
import { EMPTY_QUOTES } from './csv-reader.js';

/** A value as PostgreSQL reads it, or what it must be instead. */
export type CellReading = { readonly value: string | null } | { readonly mustBe: string };

/**
 * Makes the reader of a column's cells: the text of a CSV file, or any value of an NDJSON one.
 *
 * @throws TypeError for a column whose type cannot be imported
 */
export function cellReader(column: ColumnMetadata): (cell: unknown) => CellReading {
  const { expected, read, isRounded, readObject, expectedOf } = valuesOf(column).cell(column);
  const nothing = hasNull(column) ? { value: null } : { mustBe: 'given' };
  return (cell) => {
    if (cell === null) return nothing;
    if (cell === EMPTY_QUOTES) return read('') === undefined ? nothing : { value: '' };
    if (typeof cell === 'number' && !isRounded && !hasItsDigits(cell)) {
      return { mustBe: `${expected}, with its digits in quotes` };
    }
    const value = isScalar(cell) ? read(String(cell)) : readObject?.(cell);
    return value === undefined ? { mustBe: expectedOf?.(cell) ?? expected } : { value };
  };
}

/** Whether a row may leave a column empty: it may be null, or the database has a value for it. */
export function hasNull({ isNullable, isCreateDate, default: value }: ColumnMetadata): boolean {
  return isNullable || isCreateDate || value !== undefined;
}

function isScalar(cell: unknown): cell is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof cell);
}
