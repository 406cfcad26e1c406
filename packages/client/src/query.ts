/** The parameters that are no filters. An empty array of them is not sent. */
const NO_FILTER = /^(fields|include|sort|facets|bounds)$/;

/**
 * The query string with its `?`, or nothing. A parameter that is `undefined` is not sent.
 *
 * @throws TypeError if a value has no text, as an empty array for a filter: it would match nothing, and to leave it out
 * matches everything
 */
export function queryStringOf(query: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(query)
    .filter(
      ([name, value]) =>
        value !== undefined &&
        !(NO_FILTER.test(name) && Array.isArray(value) && value.length === 0),
    )
    .map(([name, value]): [string, string] => [name, textOf(name, value)]);
  const text = new URLSearchParams(texts).toString();
  return text && `?${text}`;
}

/** The shortest decimal that is the number. */
const WITHOUT_EXPONENT = { useGrouping: false, maximumSignificantDigits: 17 };

/**
 * A value as text. Several values are separated by commas, with double quotes around one that has a comma or begins with a
 * double quote.
 *
 * @throws TypeError if it has none
 */
export function textOf(name: string, value: unknown): string {
  if (Array.isArray(value)) {
    // Array.from calls it for the holes of a sparse array, too.
    const texts = Array.from(value as unknown[], (each) => {
      const text = textOf(name, each);
      return /^"|,/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    });
    if (texts.length > 0) return texts.join();
    throw new TypeError(`${name}: [] is empty; leave it out to filter by nothing`);
  }
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (['string', 'boolean', 'bigint'].includes(typeof value)) return String(value);
  // -0 plus 0 is 0.
  if (Number.isFinite(value)) return ((value as number) + 0).toLocaleString('en', WITHOUT_EXPONENT);
  throw new TypeError(`${name}: ${String(value)} has no text`);
}
