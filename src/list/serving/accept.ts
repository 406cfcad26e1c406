import type { Request } from 'express';
import Negotiator from 'negotiator';
import type { StreamFormat } from '../reading/prepared-list.js';

/** The media type of an envelope. */
const ENVELOPE_TYPE = 'application/json';

/** The media types of a list, in order of preference. */
const TYPES: Readonly<Record<string, StreamFormat | undefined>> = {
  [ENVELOPE_TYPE]: undefined,
  'application/x-ndjson': 'ndjson',
  'text/csv': 'csv',
};

export const CONTENT_TYPES: Readonly<Record<StreamFormat, string>> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};

/**
 * The format of a whole list that a client prefers by `Accept` (RFC 9110, section 12.5.1); `undefined`
 * for a page in its envelope. A client that accepts none of the types gets the envelope, too.
 */
export function streamFormatOf(request: Request): StreamFormat | undefined {
  const { accept } = request.headers;
  if (accept === undefined || accept === '*/*' || accept === ENVELOPE_TYPE) return undefined;
  // Without all parameters but `q`: a charset does not select a format.
  const ranges = accept.replace(/;(?!\s*q\s*=)[^;,]*/gi, '').replace(/\s*([,;=])\s*/g, '$1');
  const negotiator = new Negotiator({ headers: { accept: ranges } });
  const type = negotiator.mediaType(Object.keys(TYPES));
  return type ? TYPES[type] : undefined;
}
