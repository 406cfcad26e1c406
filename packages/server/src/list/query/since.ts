import { InvalidValue, Parameter } from '../../http/parameters/declared-parameters.js';
import { DATE_TIME } from './parameters.js';

/** `X-Updated-Until` of a response of the primary: a time in milliseconds, and 25 more digits. See `watermark.sql`. */
const MARKED = /^([^.]+\.\d{3})(\d{9})(\d{16})Z$/;

/** Where a response stands in the history of the database. */
interface Mark {
  /** The number of the history. */
  readonly history: string;
  /** The position in the write-ahead log, in bytes. */
  readonly position: string;
}

/** The mark of `X-Updated-Until`; `undefined` without one. */
export function markOf(until: string): Mark | undefined {
  const [, , history, position] = MARKED.exec(until) ?? [];
  return history !== undefined && position !== undefined ? { history, position } : undefined;
}

/** An `X-Updated-Until` that a client has sent back. */
export class MarkedTime extends Date {
  constructor(
    time: Date,
    readonly mark: Mark,
  ) {
    super(time);
  }
}

/** Reads a time since which a client asks for changes; with its mark, if it has one. */
export function readSince(text: string): Date | InvalidValue {
  const mark = markOf(text);
  if (!mark) return DATE_TIME.read(text);
  const time = DATE_TIME.read(text.replace(MARKED, '$1Z'));
  return time instanceof Date ? new MarkedTime(time, mark) : time;
}

/** An RFC 3339 time with a zone, or the `X-Updated-Until` of a response. Property: `Date`. */
export function SinceParam(meaning: string): PropertyDecorator {
  return Parameter({ ...DATE_TIME, meaning, read: readSince });
}
