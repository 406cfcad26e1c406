import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CommandError } from '../command-error.js';
import { InvalidRowsError } from './invalid-rows.js';

/** An open file to import. */
interface Source {
  /** The bytes of the file, possibly compressed. */
  readonly stream: Readable;
  /** Size in bytes; undefined for standard input. */
  readonly size: number | undefined;
}

/**
 * Opens a file, or standard input for `-`.
 *
 * @throws CommandError if the file cannot be read
 */
export async function openSource(file: string): Promise<Source> {
  if (file === '-') return { stream: process.stdin, size: undefined };
  try {
    const { size } = await stat(file);
    const stream = createReadStream(file);
    await once(stream, 'ready');
    return { stream, size };
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * The text of a source, which may be compressed by gzip.
 *
 * @param onBytes called with the number of bytes that were read
 * @throws InvalidRowsError with the line of the first invalid UTF-8; CommandError if gzip fails
 */
export async function* textOf(
  { stream }: Source,
  onBytes: (bytes: number) => void,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  for await (const chunk of decompress(withProgress(stream, onBytes))) {
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw new InvalidRowsError([
        { line: line + firstBadLine(chunk), message: 'is not UTF-8 text' },
      ]);
    }
    line += newlines(chunk);
    yield text;
  }
  try {
    decoder.decode();
  } catch {
    throw new InvalidRowsError([{ line, message: 'ends within a UTF-8 character' }]);
  }
}

async function* withProgress(
  stream: AsyncIterable<Buffer>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of stream) {
    onBytes(chunk.length);
    yield chunk;
  }
}

async function* decompress(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const start = await chunks.next();
  if (start.done) return;
  const first = start.value;
  const all = prepend(first, chunks);
  if (first[0] !== 0x1f || first[1] !== 0x8b) {
    yield* all;
    return;
  }
  const compressed = Readable.from(all);
  const gunzip = createGunzip();
  compressed.once('error', (error) => gunzip.destroy(error));
  try {
    yield* compressed.pipe(gunzip) as AsyncIterable<Buffer>;
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error;
    throw new CommandError(`The file is damaged: gzip says ${(error as Error).message}`);
  }
}

async function* prepend(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

function newlines(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) count += 1;
  return count;
}

/** The number of lines of a chunk before the first line with invalid UTF-8. */
function firstBadLine(chunk: Buffer): number {
  const lines = chunk.toString().split('\n');
  const bad = lines.findIndex((text) => text.includes('\ufffd'));
  return Math.max(0, bad);
}
