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

/** Choices made before: a client sends the same header with every request. */
const chosen = new Map<string, Encoding | undefined>();
const MOST_CHOSEN = 100;

/** The encoding that an `Accept-Encoding` prefers (RFC 9110, section 12.5.3); `undefined` for none. */
export function encodingOf(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined || acceptEncoding === 'identity') return undefined;
  if (chosen.has(acceptEncoding)) return chosen.get(acceptEncoding);
  const encoding = choice(acceptEncoding);
  if (chosen.size < MOST_CHOSEN && acceptEncoding.length < 200)
    chosen.set(acceptEncoding, encoding);
  return encoding;
}

function choice(acceptEncoding: string): Encoding | undefined {
  const weights = new Map<string, number>();
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.map((text) => /^q\s*=\s*([01](?:\.\d{0,3})?)$/.exec(text)?.[1]);
    weights.set(name === 'x-gzip' ? 'gzip' : name, Number(weight.find(Boolean) ?? 1));
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  // What is not named is acceptable all the same, and least of all.
  const plain = weights.get('identity') ?? 0;
  const [best] = ENCODINGS.toSorted((one, other) => weightOf(other) - weightOf(one));
  return best && weightOf(best) > 0 && weightOf(best) >= plain ? best : undefined;
}
