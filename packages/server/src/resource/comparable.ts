import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { COLUMN_TYPES } from './column-types.js';
import { readNumber, SIGNED_DECIMAL } from './formats.js';
import { columnTypeOf, type StoredType, VALUES } from './column-values.js';

/** A value that a condition compares a column with. */
export interface ComparedValue {
  readonly value: unknown;
  /** Whether the value is a pattern for LIKE. */
  readonly isPattern?: boolean;
  /** Whether the value is an item of the list that the column is compared with. */
  readonly isItem?: boolean;
}

/**
 * What fits in place of a comparison that PostgreSQL refuses, with a colon before it; empty for a pattern. `undefined`
 * if the value is one that the column, or an item of an array, may have. PostgreSQL would compare a text with a
 * number, but `007` has become `7`.
 */
export function fittingInstead(
  column: ColumnMetadata,
  { value, isPattern, isItem }: ComparedValue,
): string | undefined {
  if (value === null || value === undefined) return undefined;
  const isSingle = typeof value !== 'object' || value instanceof Date;
  const type = columnTypeOf({ type: column.type, isArray: false });
  if (type === 'json') {
    return isSingle ? ': a generated column of a value within it fits' : undefined;
  }
  if (column.isArray && isSingle && !isItem) {
    return ': an operator for arrays fits, such as ArrayOverlap';
  }
  if (!type) return undefined;
  if (isValueOf(type, column, value) && !(isPattern && type !== 'text')) return undefined;
  if (isPattern) return '';
  const { one, several } = COLUMN_TYPES[type];
  return `: ${[one, several].flatMap((name) => (name ? [`@${name}`] : [])).join(' or ')} fits`;
}

function isValueOf(type: StoredType, column: ColumnMetadata, value: unknown): boolean {
  const isDate = type === 'date' || type === 'date-time';
  if (value instanceof Date) return isDate;
  // No other value is sent as it is.
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return true;
  }
  if (type === 'text') return typeof value === 'string';
  // An import reads fewer forms of numbers.
  if (type === 'decimal' || type === 'double') {
    return SIGNED_DECIMAL.test(String(value)) || readNumber(String(value)) !== undefined;
  }
  const types: readonly StoredType[] = isDate ? ['date', 'date-time'] : [type];
  return types.some((each) => VALUES[each].cell(column).read(String(value)) !== undefined);
}
