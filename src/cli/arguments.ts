import { InvalidArgumentError } from 'commander';

/** Parses an option that is a whole number of at most nine digits. */
export function wholeNumber(value: string): number {
  if (!/^[0-9]{1,9}$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}

/** Collects repeated options of the form `name=value` into a map. Each name may appear once. */
export function assignment(
  value: string,
  before: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, string> {
  const equals = value.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('It must be of the form field=…');
  const name = value.slice(0, equals);
  if (before.has(name)) throw new InvalidArgumentError(`${name} is given twice.`);
  return new Map([...before, [name, value.slice(equals + 1)]]);
}
