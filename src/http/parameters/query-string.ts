/** One `name=value` of a query string, decoded, in the order sent. */
export interface Parameter {
  readonly name: string;
  readonly value: string;
}

/**
 * Stands at the end of a value whose bytes are no UTF-8. A lone surrogate cannot come out of
 * decoding, so a value that is not well-formed is one that was sent in bytes that are no text.
 */
const ILL_FORMED = '\ud800';

/** Whether every `%` of a text begins an escape of two hexadecimal digits. */
export function isPercentEncoded(text: string): boolean {
  return !/%(?![0-9A-Fa-f]{2})/.test(text);
}

/**
 * The parameters of a raw query string, all of them, in the order sent, as
 * https://url.spec.whatwg.org/#urlencoded-parsing has it: `+` is a space, a name without `=` has
 * the empty value, nothing between two `&` is nothing. Names are literal: no brackets, no nesting.
 */
export function parseQuery(query: string): Parameter[] {
  const parameters: Parameter[] = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    const value = equals < 0 ? '' : part.slice(equals + 1);
    // A name is shown as it was sent, as far as that can be.
    parameters.push({ name: decode(name).replace(ILL_FORMED, ''), value: decode(value) });
  }
  return parameters;
}

/** One decoded component; what is no UTF-8 comes out not well-formed (`String.isWellFormed`). */
function decode(component: string): string {
  if (!/[%+]/.test(component)) return component;
  const spaced = component.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    const bytes = spaced.replace(/%(..)/g, (_, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    );
    return Buffer.from(bytes, 'latin1').toString() + ILL_FORMED;
  }
}
