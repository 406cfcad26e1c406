import { errors } from '../../http/errors.js';
import { InvalidValue } from '../../http/parameters/invalid-value.js';
import { identifierType } from '../../resource/identifiers.js';

/** The canonical text of an identifier; invalid with `-22`, or `-26` for a number out of range. */
export function readIdentifier(columnType: unknown, text: string): string | InvalidValue {
  const { read, expected } = identifierType(columnType);
  const reading = read(text);
  if ('value' in reading) return reading.value;
  return new InvalidValue((name) =>
    'beyond' in reading
      ? errors.outOfRange(name, ...reading.beyond)
      : errors.parameterInvalid(name, expected),
  );
}
