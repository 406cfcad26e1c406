import { once } from 'node:events';
import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CommandError } from '../command-error.js';
import { InvalidRowsError } from './invalid-rows.js';

/**
 * Opens a file, which has a size in bytes, or standard input for `-`.
 *
 * @throws CommandError if the file cannot be read
 */
export async function openSource(
  file: string,
): Promise<{ stream: ReadStream; size: number } | { stream: Readable; size?: undefined }> {
  if (file === '-') return { stream: process.stdin };
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
 * @throws InvalidRowsError with the line of the first invalid UTF-8; CommandError if gzip fails
 */
export async function* textOf(source: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  for await (const chunk of decompress(source)) {
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw new InvalidRowsError([
        { line: line + firstBadLine(chunk), message: 'is not UTF-8 text' },
      ]);
    }
    line += text.split('\n').length - 1;
    yield text;
  }
  try {
    decoder.decode();
  } catch {
    throw new InvalidRowsError([{ line, message: 'ends within a UTF-8 character' }]);
  }
}

async function* decompress(source: Readable): AsyncGenerator<Buffer> {
  // This comes at the end of an empty source, too.
  await once(source, 'readable');
  const first = source.read() as Buffer | null;
  if (first) source.unshift(first);
  if (first?.[0] !== 0x1f || first[1] !== 0x8b) {
    yield* source as AsyncIterable<Buffer>;
    return;
  }
  const gunzip = createGunzip();
  source.once('error', (error) => gunzip.destroy(error));
  try {
    yield* source.pipe(gunzip) as AsyncIterable<Buffer>;
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error;
    throw new CommandError(`The file is damaged: gzip says ${(error as Error).message}`);
  }
}

/** The number of lines of a chunk before the first line with invalid UTF-8. */
function firstBadLine(chunk: Buffer): number {
  const lines = chunk.toString().split('\n');
  const bad = lines.findIndex((text) => text.includes('\ufffd'));
  return Math.max(0, bad);
}
