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
