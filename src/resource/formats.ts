/**
 * The written forms of the types that a catalogue holds, in a query and in a file alike. Each
 * reader gives the value, or `undefined` for a text that is not one.
 */

/** Most characters (code points) of an identifier. */
export const IDENTIFIER_LENGTH = 100;

/** Most characters of a name, and of any text that is filtered or sorted by. */
export const NAME_LENGTH = 500;

/** A plain decimal integer, without a sign. */
export const PLAIN_INTEGER = /^[0-9]+$/;

/** Plain digits with an optional point. */
export const PLAIN_DECIMAL = /^[0-9]+(\.[0-9]+)?$/;

/** RFC 3339, section 5.6, where a space for the `T` is left to the application: not here. */
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})T((?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60))(?:\.(\d+))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** Whether PostgreSQL can hold a text: well-formed, and no NUL in it. */
export function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether a text that PostgreSQL can hold has `least` to `most` characters (code points). */
export function isTextOf(text: string, least: number, most: number): boolean {
  if (text.length < least || text.length > 2 * most || !isText(text)) return false;
  return text.length <= most || Array.from(text).length <= most;
}

export function readBoolean(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/**
 * A time as RFC 3339 writes it, from the year 1 in UTC. Times are kept to the millisecond:
 * a finer one is rounded up, so that "since" keeps its meaning.
 */
export function readDateTime(text: string): Date | undefined {
  const match = DATE_TIME.exec(text);
  if (!match) return undefined;
  const [, date = '', time = '', fraction = '', zone = ''] = match;
  const day = new Date(`${date}T00:00:00Z`);
  // JavaScript takes the 30th of February for a day in March.
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(date)) return undefined;
  // A leap second is the first of the next minute, to PostgreSQL too.
  const [whole, leap] = time.endsWith('60') ? [`${time.slice(0, -2)}59`, 1000] : [time, 0];
  const seconds = Date.parse(`${date}T${whole}${zone.toUpperCase()}`);
  const milliseconds = Math.ceil(Number(`0.${fraction || '0'}`) * 1000);
  const value = new Date(seconds + leap + milliseconds);
  return value.getUTCFullYear() >= 1 ? value : undefined;
}
