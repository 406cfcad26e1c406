import { identifierColumn, nameColumn } from './column-types.js';

/** Text formats of values, in queries and in imported files. A reader returns `undefined` for an invalid text. */

/** Maximum characters (code points) of an identifier. */
export const IDENTIFIER_LENGTH: number = identifierColumn.length;

/** Maximum characters (code points) of a name, and of any text to filter or sort by. */
export const NAME_LENGTH: number = nameColumn.length;

/** A plain decimal integer, without a sign. */
export const PLAIN_INTEGER = /^[0-9]+$/;

/** A decimal integer with or without a `-`. */
export const SIGNED_INTEGER = /^-?[0-9]+$/;

/** Digits with an optional decimal point, without a sign. */
export const PLAIN_DECIMAL = /^[0-9]+(\.[0-9]+)?$/;

/** As `PLAIN_DECIMAL`, with or without a `-`. */
export const SIGNED_DECIMAL = /^-?[0-9]+(\.[0-9]+)?$/;

/** A UUID with hyphens, RFC 9562. PostgreSQL writes it in lower case. */
export const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** A currency code of ISO 4217. Which codes there are changes with time. */
export const CURRENCY = /^[A-Z]{3}$/;

/** RFC 3339, section 5.6. A space in place of the `T`, which the RFC leaves optional, is invalid. */
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})T((?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60))(?:\.(\d+))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** Whether PostgreSQL can store a text: it is well-formed Unicode without NUL. */
export function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether PostgreSQL can store a text, and it has `minimum` to `maximum` characters (code points). */
export function isTextOf(text: string, minimum: number, maximum: number): boolean {
  if (text.length < minimum || text.length > 2 * maximum || !isText(text)) return false;
  return text.length <= maximum || Array.from(text).length <= maximum;
}

export function readBoolean(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** Reads a finite number as JSON writes it. */
export function readNumber(text: string): number | undefined {
  const value = /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : undefined;
}

/** Reads a full date of RFC 3339 in the years 1 to 9999, which PostgreSQL writes the same way. */
export function readDate(text: string): string | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !text.startsWith('0000') && isDay(text)
    ? text
    : undefined;
}

/** Whether there is a day. JavaScript parses February 30 as a day in March. */
function isDay(date: string): boolean {
  const day = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
}

/**
 * Reads an RFC 3339 time. Stored times have millisecond precision, so a finer time is rounded up:
 * rounded down, "since" would include earlier objects. In UTC, its year is between -1 and 10000.
 */
export function readDateTime(text: string): Date | undefined {
  const match = DATE_TIME.exec(text);
  if (!match) return undefined;
  const [, date = '', time = '', fraction = '', zone = ''] = match;
  if (!isDay(date)) return undefined;
  // A leap second becomes the first second of the next minute, as in PostgreSQL.
  const [whole, leap] = time.endsWith('60') ? [`${time.slice(0, -2)}59`, 1000] : [time, 0];
  const seconds = Date.parse(`${date}T${whole}${zone.toUpperCase()}`);
  const milliseconds = Math.ceil(Number(`0.${fraction || '0'}`) * 1000);
  return new Date(seconds + leap + milliseconds);
}
