import type { Request } from 'express';
import Negotiator from 'negotiator';
import type { StreamFormat } from '../prepared-list.js';

/** The type of an envelope. */
const ENVELOPE_TYPE = 'application/json';

/** What a list can be sent as; the first where a client has no preference. */
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
 * How a client wants a list, by `Accept` (RFC 9110, section 12.5.1); `undefined` for a page in its
 * envelope, which is also what those get who accept nothing that there is.
 */
export function streamFormatOf(request: Request): StreamFormat | undefined {
  const { accept } = request.headers;
  if (accept === undefined || accept === '*/*' || accept === ENVELOPE_TYPE) return undefined;
  const negotiator = new Negotiator({ headers: { accept: withoutParameters(accept) } });
  const type = negotiator.mediaType(Object.keys(TYPES));
  return type ? TYPES[type] : undefined;
}

/** An `Accept` whose media ranges have no parameter but `q`: a charset asks for no other form. */
function withoutParameters(accept: string): string {
  return accept
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
      const quality = parameters.find((parameter) => /^q\s*=/i.test(parameter));
      return quality ? `${type};${quality.replace(/\s/g, '').toLowerCase()}` : type;
    })
    .join();
}
