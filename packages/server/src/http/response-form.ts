import type { IncomingHttpHeaders } from 'node:http';
import Negotiator from 'negotiator';
import { type Encoding, encodingOf } from './compression.js';

/** The format of a whole list. */
export type StreamFormat = 'ndjson' | 'csv';

/** The form of the response that a request prefers, by its headers. */
export interface ResponseForm {
  /** The format of a whole list. Absent: a page in its envelope. */
  readonly format: StreamFormat | undefined;
  /** The content coding of a body that is worth it. Absent: none. */
  readonly encoding: Encoding | undefined;
  /** The seconds to wait for a change. Absent: it prefers not to wait. */
  readonly wait: number | undefined;
}

/** A request with the form of its response, once that is decided. */
interface AskedInForm {
  readonly headers: IncomingHttpHeaders;
  form?: ResponseForm;
}

/** The form of the response to a request. It is decided once. */
export function formOf(request: AskedInForm): ResponseForm {
  const { headers } = request;
  return (request.form ??= {
    format: formatOf(headers.accept),
    encoding: encodingOf(headers['accept-encoding']),
    wait: preferredWait(request),
  });
}

/** The media type of an envelope. */
const ENVELOPE_TYPE = 'application/json';

/** The media types of a list, in order of preference. */
const TYPES: Readonly<Record<string, StreamFormat | undefined>> = {
  [ENVELOPE_TYPE]: undefined,
  'application/x-ndjson': 'ndjson',
  'text/csv': 'csv',
};

/**
 * The format of a whole list that a client prefers by `Accept` (RFC 9110, section 12.5.1); `undefined`
 * for a page in its envelope. A client that accepts none of the types gets the envelope, too.
 */
function formatOf(accept: string | undefined): StreamFormat | undefined {
  if (accept === undefined || accept === '*/*' || accept === ENVELOPE_TYPE) return undefined;
  // Without all parameters but `q`: a charset does not select a format.
  const ranges = accept.replace(/;(?!\s*q\s*=)[^;,]*/gi, '').replace(/\s*([,;=])\s*/g, '$1');
  const negotiator = new Negotiator({ headers: { accept: ranges } });
  const type = negotiator.mediaType(Object.keys(TYPES));
  return type ? TYPES[type] : undefined;
}

/** Maximum seconds that a request waits. Proxies end requests that take longer than some such time. */
const LONGEST_WAIT = 60;

/**
 * The seconds of `Prefer: wait=<seconds>` (RFC 7240, section 4.3), 60 at most. `undefined` without it, or if its value
 * is no number above 0: a preference that cannot be understood is ignored. The first of several counts.
 */
export function preferredWait({
  headers: { prefer = '' },
}: Pick<AskedInForm, 'headers'>): number | undefined {
  // Node joins several headers with commas. A comma in a quoted value separates nothing.
  const preferences = String(prefer).match(/([^,"]|"([^"\\]|\\.)*"?)+/g) ?? [];
  const wait = preferences.find((preference) => /^\s*wait\s*(=|;|$)/i.test(preference)) ?? '';
  const [, value = ''] = /^[^=;]*=\s*("?[0-9]+"?)\s*(;|$)/.exec(wait) ?? [];
  const seconds = Number(value.replaceAll('"', ''));
  return seconds > 0 ? Math.min(seconds, LONGEST_WAIT) : undefined;
}
