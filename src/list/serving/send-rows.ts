import type { Response } from 'express';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { createCompressor, type Encoding } from '../../http/compression.js';
import { errors } from '../../http/errors.js';
import type { OpenList } from '../prepared-list.js';
import type { StreamLimits } from './stream-limit.js';

/** Bytes handed over at once; a reader who takes fewer within its time is one who takes nothing. */
const PIECE = 16_384;

/**
 * Sends a list as fast as its reader takes it, and closes it. Rejects where it cannot be read to its
 * end, with the response cut off so that its reader sees that it is not whole.
 */
export async function sendRows(
  request: CatalogueRequest,
  response: Response,
  list: OpenList,
  { timeout, stallTimeout }: Pick<StreamLimits, 'timeout' | 'stallTimeout'>,
  encoding?: Encoding,
): Promise<void> {
  request.rows = 0;
  if (request.method === 'HEAD') {
    await list.close();
    response.end();
    return;
  }
  let failure: Error | undefined;
  const ending = new AbortController();
  const cutOff = (error?: Error): void => {
    failure ??= error;
    // Without chunks, only a reset tells a list that breaks off from one that ends.
    if (request.httpVersion === '1.0') response.socket?.resetAndDestroy();
    else response.destroy();
    ending.abort();
  };
  response.once('close', () => {
    ending.abort();
  });
  // It may have been closed before there was anybody to hear of it.
  if (response.destroyed) ending.abort();

  async function* pieces(): AsyncGenerator<Buffer> {
    try {
      for await (const { text, rows } of list.batches) {
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length; at += PIECE) {
          const stalled = setTimeout(cutOff, stallTimeout);
          try {
            yield bytes.subarray(at, at + PIECE);
          } finally {
            clearTimeout(stalled);
          }
        }
        request.rows = (request.rows ?? 0) + rows;
      }
    } catch (error) {
      // What ends because its reader went away has not failed.
      if (!ending.signal.aborted) cutOff(error as Error);
      throw error;
    } finally {
      await list.close();
    }
  }

  const timer = timeout
    ? setTimeout(() => {
        cutOff(errors.tookTooLong());
      }, timeout)
    : undefined;
  try {
    const rows = Readable.from(pieces(), { objectMode: false });
    const options = { signal: ending.signal };
    if (encoding) await pipeline(rows, createCompressor(encoding), response, options);
    else await pipeline(rows, response, options);
  } catch {
    if (failure) throw failure;
  } finally {
    clearTimeout(timer);
    await list.close();
  }
}
