import { errors } from '../../http/errors.js';
import { InvalidValue } from '../../http/parameters/declared-parameters.js';
import { readSince } from '../query/since.js';
import { RETENTION } from './deletion.js';

const LATEST = '9999-12-31T23:59:59.999Z';
const DAY = 86_400_000;

/** Reads a time since which a client asks for deletions: not earlier than they are kept. */
export function readRetained(text: string): Date | InvalidValue {
  const time = readSince(text);
  const earliest = new Date(Date.now() - RETENTION.days * DAY);
  if (time instanceof InvalidValue || time >= earliest) return time;
  return new InvalidValue((name) => errors.outOfRange(name, earliest.toISOString(), LATEST));
}

/** A time that is valid for `readRetained` now, as text. */
export function retainedExample(): string {
  return new Date(Date.now() - DAY).toISOString();
}
