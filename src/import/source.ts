import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CommandError } from '../command-error.js';
import { BadRows } from './problems.js';

/** A file to import, opened. */
export interface Source {
  /** Its bytes as they are stored. */
  readonly stream: Readable;
  /** How many they are, where that is known. */
  readonly size: number | undefined;
}

/** Opens a file, or standard input for `-`. */
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

/** The text of a source, unpacked if it begins as gzip does; refuses what is no UTF-8, by line. */
export async function* textOf(
  { stream }: Source,
  onBytes: (bytes: number) => void,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  for await (const chunk of unpack(counted(stream, onBytes))) {
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw new BadRows([{ line: line + firstBadLine(chunk), message: 'is not UTF-8 text' }]);
    }
    line += newlines(chunk);
    yield text;
  }
  try {
    decoder.decode();
  } catch {
    throw new BadRows([{ line, message: 'ends within a UTF-8 character' }]);
  }
}

async function* counted(
  stream: AsyncIterable<Buffer>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of stream) {
    onBytes(chunk.length);
    yield chunk;
  }
}

async function* unpack(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const begin = await chunks.next();
  if (begin.done) return;
  const first = begin.value;
  const all = prepend(first, chunks);
  if (first[0] !== 0x1f || first[1] !== 0x8b) {
    yield* all;
    return;
  }
  const packed = Readable.from(all);
  const gunzip = createGunzip();
  packed.once('error', (error) => gunzip.destroy(error));
  try {
    yield* packed.pipe(gunzip) as AsyncIterable<Buffer>;
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

/** How many lines of a chunk come before the first that is no UTF-8. */
function firstBadLine(chunk: Buffer): number {
  const lines = chunk.toString().split('\n');
  return Math.max(
    0,
    lines.findIndex((text) => text.includes('\ufffd')),
  );
}
