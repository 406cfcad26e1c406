import Negotiator from 'negotiator';
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
} from 'node:zlib';
import type { CatalogueRequest } from './request.js';

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

/** The form of the response to a request. It is decided once. */
export function formOf(request: Pick<CatalogueRequest, 'headers' | 'form'>): ResponseForm {
  const { headers } = request;
  return (request.form ??= {
    format: formatOf(headers.accept),
    encoding: encodingOf(headers['accept-encoding']),
    wait: preferredWait(headers.prefer),
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
export function preferredWait(prefer: string | string[] = ''): number | undefined {
  // Node joins several headers with commas. A comma in a quoted value separates nothing.
  const preferences = String(prefer).match(/([^,"]|"([^"\\]|\\.)*"?)+/g) ?? [];
  const wait = preferences.find((preference) => /^\s*wait\s*(=|;|$)/i.test(preference)) ?? '';
  const [, value = ''] = /^[^=;]*=\s*("?[0-9]+"?)\s*(;|$)/.exec(wait) ?? [];
  const seconds = Number(value.replaceAll('"', ''));
  return seconds > 0 ? Math.min(seconds, LONGEST_WAIT) : undefined;
}

/** Content codings, in order of preference among equal weights. */
const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Minimum bytes of a body to compress. Headers take about as many. */
export const COMPRESSION_THRESHOLD = 1000;

/** At this quality, Brotli makes whole lists a third smaller than gzip, in less time. Its default quality is for files. */
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** Compresses a body outside the main thread. */
export function compress(body: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === 'br' ? compressors.br(body, BROTLI) : compressors.gzip(body);
}

/** A stream that compresses its input. It holds a few hundred kilobytes at most. */
export function createCompressor(encoding: Encoding): Transform {
  return encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip();
}

/** The types of negotiator lack `preferred`, the order among codings of equal weight. */
interface EncodingNegotiator {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): string[];
}

/** The content coding to use for an `Accept-Encoding` (RFC 9110, section 12.5.3); `undefined`: none. */
export function encodingOf(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined || acceptEncoding === 'identity') return undefined;
  // RFC 9110, section 8.4.1.3: x-gzip is equivalent to gzip.
  const header = acceptEncoding.toLowerCase().replaceAll('x-gzip', 'gzip');
  const negotiator = new Negotiator({
    headers: { 'accept-encoding': header },
  }) as EncodingNegotiator;
  // `*` includes identity, but a client that does not name it gains from any coding that it accepts.
  const available = header.includes('identity') ? [...ENCODINGS, 'identity'] : ENCODINGS;
  const [best] = negotiator.encodings(available, { preferred: ENCODINGS });
  return ENCODINGS.find((encoding) => encoding === best);
}
