import { Buffer, isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { CommandError } from '../command-error.js';
import { TextError } from './invalid-rows.js';

/** @typedef {import('node:stream').Readable} Readable */

/**
 * Opens a file, which has a size in bytes, or standard input for `-`.
 *
 * @param {string} file
 * @returns {Promise<{ stream: import('node:fs').ReadStream, size: number } | { stream: Readable, size?: undefined }>}
 * @throws {CommandError} if the file cannot be read
 */
export async function openSource(file) {
  if (file === '-') return { stream: process.stdin };
  try {
    const { size } = await stat(file);
    const stream = createReadStream(file);
    await once(stream, 'ready');
    return { stream, size };
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * The text of a source, which may be compressed by gzip, without a byte order mark. No chunk ends within the end of a line.
 *
 * @param {Readable} source
 * @returns {AsyncGenerator<string>}
 * @throws {TextError} behind the text before the first byte that is not UTF-8
 * @throws {CommandError} if gzip fails
 */
export async function* textOf(source) {
  /** What was not decoded. @type {Buffer} */
  let held = Buffer.alloc(0);
  let isFirst = true;
  for await (const chunk of decompress(source)) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    // Four bytes tell the encoding.
    const end = isFirst && bytes.length < 4 ? 0 : bytes.length - openBytes(bytes);
    held = bytes.subarray(end);
    if (end === 0) continue;
    yield* decoded(bytes.subarray(0, end), isFirst);
    isFirst = false;
  }
  if (openBytes(held) === 0 || held.at(-1) === CR) yield* decoded(held, isFirst);
  else throw new TextError(`ends within a character: ${notUtf8('windows-1252')}`);
}

/** The ends of lines. */
export const LINE_ENDS = /\r\n|\n|\r/;

/** Maximum length of a row. Bounds the memory that an unclosed quote takes. */
export const MAX_ROW_LENGTH = 1_000_000;

const CR = 13;

/**
 * How many bytes at the end are the beginning of a character, or may be that of an end of line.
 *
 * @param {Buffer} bytes
 */
function openBytes(bytes) {
  if (bytes.at(-1) === CR) return 1;
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

/**
 * How files in other encodings begin. In UTF-8, no value that can be stored has a byte 0.
 *
 * @type {readonly (readonly [RegExp, string])[]}
 */
const ENCODINGS = [
  [/^(\xff\xfe\0\0|\0\0\xfe\xff)/, 'utf-32'],
  [/^(\xff\xfe|\xfe\xff)/, 'utf-16'],
  [/^[^\0]\0/, 'utf-16le'],
  [/^\0[^\0]/, 'utf-16be'],
];

/** The text of bytes with whole characters. @type {(bytes: Buffer, isFirst: boolean) => Generator<string>} */
function* decoded(bytes, isFirst) {
  const beginning = bytes.toString('latin1', 0, 4);
  const [, encoding] = (isFirst && ENCODINGS.find(([begin]) => begin.test(beginning))) || [];
  if (encoding !== undefined) throw new TextError(notUtf8(encoding));
  const isValid = isUtf8(bytes);
  const text = isValid ? bytes.toString() : validBeginning(bytes);
  yield isFirst ? text.replace(/^\ufeff/, '') : text;
  if (!isValid) throw new TextError(notUtf8('windows-1252'));
}

/** @type {(encoding: string) => string} */
function notUtf8(encoding) {
  const name = encoding.startsWith('utf')
    ? `is ${encoding.toUpperCase()}, not UTF-8`
    : 'is not UTF-8';
  return `${name}: convert the file, as with iconv -f ${encoding} -t utf-8`;
}

/** The text before the first byte that is not UTF-8. @type {(bytes: Buffer) => string} */
function validBeginning(bytes) {
  const text = bytes.toString();
  let at = -1;
  let isReplaced = false;
  while (!isReplaced) {
    at = text.indexOf('\ufffd', at + 1);
    const from = Buffer.byteLength(text.slice(0, at));
    isReplaced = bytes.toString('latin1', from, from + 3) !== '\xef\xbf\xbd';
  }
  return text.slice(0, at);
}

/** @type {(source: Readable) => AsyncGenerator<Buffer>} */
async function* decompress(source) {
  // This comes at the end of an empty source, too.
  await once(source, 'readable');
  const first = /** @type {Buffer | null} */ (source.read());
  if (first) source.unshift(first);
  if (first?.[0] !== 0x1f || first[1] !== 0x8b) {
    yield* /** @type {AsyncIterable<Buffer>} */ (source);
    return;
  }
  const gunzip = createGunzip();
  source.once('error', (error) => gunzip.destroy(error));
  try {
    yield* /** @type {AsyncIterable<Buffer>} */ (source.pipe(gunzip));
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (!code?.startsWith('Z_')) throw error;
    throw new CommandError(`The file is damaged: gzip says ${message}`);
  }
}
