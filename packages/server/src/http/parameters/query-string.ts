/** One `name=value` of a query string, decoded. */
export interface SentParameter {
  readonly name: string;
  readonly value: string;
}

/**
 * Marks a value whose bytes are not valid UTF-8. Decoding never yields a lone surrogate, so only such
 * values are not well-formed (`String.isWellFormed`).
 */
const ILL_FORMED = '\ud800';

/**
 * Parses a raw query string, as in https://url.spec.whatwg.org/#urlencoded-parsing: `+` is a space, a
 * name without `=` has an empty value, and empty parts between two `&` are ignored. Names are
 * literal: brackets have no meaning.
 *
 * @returns every parameter in the order sent; repeated names stay repeated
 */
export function parseQuery(query: string): SentParameter[] {
  const parameters: SentParameter[] = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    const value = equals < 0 ? '' : part.slice(equals + 1);
    // Error messages contain the name, so it has no marker.
    parameters.push({ name: decode(name).replace(ILL_FORMED, ''), value: decode(value) });
  }
  return parameters;
}

/** Decodes a component. If its bytes are not valid UTF-8, `ILL_FORMED` is appended. */
export function decode(component: string): string {
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
