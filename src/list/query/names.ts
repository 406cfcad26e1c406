import { errors } from '../../http/errors.js';
import { InvalidValue } from '../../http/parameters/invalid-value.js';
import { mustBe } from './parameters.js';

/**
 * Reads names, in the order in which they are allowed.
 *
 * @param what the names are, for a refusal
 */
export function namesReader(allowedNames: () => readonly string[], what: string) {
  return (text: string): string[] | InvalidValue => {
    const allowed = allowedNames();
    const names = namesIn(text);
    if (names.includes('')) return mustBe(`${what}, separated by commas`);
    const unknown = names.find((name) => !allowed.includes(name));
    if (unknown !== undefined) return mustName(unknown, allowed);
    return allowed.filter((name) => names.includes(name));
  };
}

/** The names in a text, between commas. */
export function namesIn(text: string): string[] {
  return text.split(',').map((name) => name.replace(/^ +| +$/g, ''));
}

/** An invalid value that gets `-25`: it names what is not allowed. */
export function mustName(value: string, allowed: readonly string[]): InvalidValue {
  return new InvalidValue((name) =>
    errors.nameUnknown(name, value.toWellFormed(), allowed.join(', ')),
  );
}
