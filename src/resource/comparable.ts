import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { COLUMN_TYPES } from './column-types.js';
import { columnTypeOf, type ColumnValues, VALUES } from './column-values.js';

/** A value that a condition compares a column with. */
export interface ComparedValue {
  readonly value: unknown;
  /** Whether the value is a pattern for LIKE. */
  readonly isPattern?: boolean;
  /** Whether the value is an item of the list that the column is compared with. */
  readonly isItem?: boolean;
}

/**
 * Whether a value is one that a column, or an item of an array, may have. PostgreSQL refuses to compare it with
 * another one. It would compare a text with a number, but `007` has become `7`.
 */
export function isComparable(column: ColumnMetadata, { value, ...as }: ComparedValue): boolean {
  if (value === null || value === undefined) return true;
  const isSingle = typeof value !== 'object' || value instanceof Date;
  const type = itemTypeOf(column);
  if (type === 'json') return !isSingle;
  if (column.isArray && isSingle && !as.isItem) return false;
  if (!type) return true;
  if (as.isPattern && type !== 'text') return false;
  const isDate = type === 'date' || type === 'date-time';
  if (value instanceof Date) return isDate;
  // No other value is sent as it is.
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return true;
  }
  if (type === 'text') return typeof value === 'string';
  const text = String(value);
  if (isDate) return [VALUES.date, VALUES['date-time']].some((each) => reads(each, column, text));
  // An import reads fewer forms of numbers.
  if (typeof value === 'number' && (type === 'decimal' || type === 'double')) return true;
  return reads(VALUES[type], column, text);
}

/** What fits in place of a comparison that PostgreSQL refuses, with a colon before it; empty for a pattern. */
export function fittingComparison(
  column: ColumnMetadata,
  { isPattern, isItem }: ComparedValue,
): string {
  const type = itemTypeOf(column);
  if (type === 'json') return ': the condition of path(...) fits, which compares a value within it';
  if (column.isArray && !isItem) return ': an operator for arrays fits, such as ArrayOverlap';
  if (!type || isPattern) return '';
  const { one, several } = COLUMN_TYPES[type];
  return `: ${[one, several].flatMap((name) => (name ? [`@${name}`] : [])).join(' or ')} fits`;
}

/** The type of a column, or of the items of an array. */
function itemTypeOf({ type }: ColumnMetadata): ReturnType<typeof columnTypeOf> {
  return columnTypeOf({ type, isArray: false });
}

function reads(values: ColumnValues, column: ColumnMetadata, text: string): boolean {
  return values.cell(column).read(text) !== undefined;
}
