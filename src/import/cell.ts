import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { isText, isTextOf, PLAIN_DECIMAL, readBoolean, readDateTime } from '../resource/formats.js';

/** A value as PostgreSQL reads it, or what it must be instead. */
export type CellReading = { readonly value: string | null } | { readonly mustBe: string };

/** What a column takes, and how a text of it is written for PostgreSQL. */
interface Format {
  readonly expected: string;
  readonly read: (text: string) => string | undefined;
}

/** Makes the reader of a column's cells: the text of a CSV file, or any value of an NDJSON one. */
export function cellReader(column: ColumnMetadata): (cell: unknown) => CellReading {
  const { expected, read } = formatOf(column);
  const isJson = column.type === 'jsonb';
  return (cell) => {
    if (cell === null) return hasNull(column) ? { value: null } : { mustBe: 'given' };
    const text = isJson && typeof cell === 'object' ? jsonOf(cell) : textOf(cell);
    if (text === undefined) return { mustBe: `${expected}, with its digits in quotes` };
    const value = text === null ? undefined : read(text);
    return value === undefined ? { mustBe: expected } : { value };
  };
}

/** Whether a row may leave a column empty: it may be null, or the database has a value for it. */
export function hasNull({ isNullable, isCreateDate, default: value }: ColumnMetadata): boolean {
  return isNullable || isCreateDate || value !== undefined;
}

/**
 * A cell as text: null for one that is no scalar, `undefined` for a number that has lost digits
 * on the way through JavaScript.
 */
function textOf(cell: unknown): string | null | undefined {
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'boolean') return String(cell);
  if (typeof cell !== 'number') return null;
  const text = String(cell);
  return text.replace(/[^0-9]/g, '').length <= 15 && !text.includes('e') ? text : undefined;
}

function formatOf(column: ColumnMetadata): Format {
  const { type } = column;
  switch (type) {
    case 'enum': {
      const allowed = (column.enum ?? []).map(String);
      return {
        expected: `one of ${allowed.join(', ')}`,
        read: (text) => (allowed.includes(text) ? text : undefined),
      };
    }
    case 'varchar':
      // What is filtered by is never empty: the filter could not be written.
      return text(column.collation === 'C' ? 1 : 0, Number(column.length));
    case 'integer':
      return INTEGER;
    case 'numeric':
      return DECIMAL;
    case 'boolean':
      return BOOLEAN;
    case 'timestamptz':
      return TIME;
    case 'jsonb':
      return JSON_VALUE;
    default:
      throw new TypeError(`Columns of type ${String(type)} cannot be imported`);
  }
}

function text(least: number, most: number): Format {
  return {
    expected: `text of ${least} to ${most} characters`,
    read: (value) => (isTextOf(value, least, most) ? value : undefined),
  };
}

const INTEGER: Format = {
  expected: 'an integer between -2147483648 and 2147483647',
  read: (value) =>
    /^-?[0-9]{1,10}$/.test(value) && Number(value) === (Number(value) | 0) ? value : undefined,
};

const DECIMAL: Format = {
  expected: 'a decimal number such as 19.99',
  read: (value) =>
    PLAIN_DECIMAL.test(value.replace(/^-/, '')) && value.length <= 100 ? value : undefined,
};

const BOOLEAN: Format = {
  expected: 'true or false',
  read: (value) => readBoolean(value)?.toString(),
};

const TIME: Format = {
  expected: 'an RFC 3339 time with a zone, such as 2026-11-21T12:00:00Z',
  read: (value) => {
    const time = readDateTime(value);
    // Rounded up or shifted to UTC, the last of them would need a fifth digit for the year.
    return time && time.getUTCFullYear() <= 9999 ? time.toISOString() : undefined;
  },
};

/** Levels that a value may have: it is walked through, and so is it by whoever reads it. */
const DEEPEST = 100;

const JSON_VALUE: Format = {
  expected: `an object or a list in JSON, its numbers of 15 digits at most, ${DEEPEST} levels at most`,
  read: (text) => {
    try {
      const value: unknown = JSON.parse(text);
      return typeof value === 'object' && value !== null ? (jsonOf(value) ?? undefined) : undefined;
    } catch {
      return undefined;
    }
  },
};

/** A value as JSON; null where PostgreSQL could not hold it, or JavaScript did not. */
function jsonOf(value: unknown): string | null {
  return isKept(value, DEEPEST) ? JSON.stringify(value) : null;
}

function isKept(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return isText(value);
  if (typeof value === 'number') return textOf(value) !== undefined;
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  return Object.entries(value).every(([key, each]) => isText(key) && isKept(each, levels - 1));
}
