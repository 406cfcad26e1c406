import type { Transform } from 'node:stream';
import Negotiator from 'negotiator';
import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
} from 'node:zlib';

/** Content codings, the one that is preferred among equals first. */
const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Bytes below which a body is sent as it is: the headers are as long. */
export const WORTHWHILE = 1000;

/** The quality at which Brotli is both smaller and faster than gzip; its own default is for files. */
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** A body in an encoding. Off the thread that answers requests. */
export function compress(body: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === 'br' ? compressors.br(body, BROTLI) : compressors.gzip(body);
}

/** Puts what runs through it into an encoding. It holds a few hundred kilobytes at most. */
export function compressing(encoding: Encoding): Transform {
  return encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip();
}

/** The types of negotiator lack the order among codings of equal weight. */
interface EncodingNegotiator {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): string[];
}

/** The content coding that an `Accept-Encoding` prefers (RFC 9110, section 12.5.3); `undefined` for none. */
export function encodingOf(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined || acceptEncoding === 'identity') return undefined;
  // RFC 9110, section 8.4.1.3: x-gzip is equivalent to gzip.
  const header = acceptEncoding.toLowerCase().replaceAll('x-gzip', 'gzip');
  const negotiator = new Negotiator({
    headers: { 'accept-encoding': header },
  }) as EncodingNegotiator;
  const [best] = negotiator.encodings([...ENCODINGS, 'identity'], { preferred: ENCODINGS });
  return ENCODINGS.find((encoding) => encoding === best);
}
