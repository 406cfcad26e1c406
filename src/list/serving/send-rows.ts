import type { Response } from 'express';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { createCompressor, type Encoding } from '../../http/compression.js';
import { errors } from '../../http/errors.js';
import type { OpenList } from '../reading/prepared-list.js';
import type { StreamLimits } from './stream-limit.js';

/** Bytes per write. A reader stalls if it does not read this many within `stallTimeout`. */
const WRITE_SIZE = 16_384;

/**
 * Sends a list at the speed of its reader, and closes it. If reading the list fails, or a timeout
 * passes, it aborts the response, so that the client does not take it for complete.
 *
 * @param ending is aborted when the response is closed
 * @throws Error the failure, if there is one; a reader that disconnects is not a failure
 */
export async function sendRows(
  request: CatalogueRequest,
  response: Response,
  list: OpenList,
  { timeout, stallTimeout }: Pick<StreamLimits, 'timeout' | 'stallTimeout'>,
  ending: AbortController,
  encoding?: Encoding,
): Promise<void> {
  request.rows = 0;
  if (request.method === 'HEAD') {
    await list.close();
    response.end();
    return;
  }
  let failure: Error | undefined;
  const abort = (error?: Error): void => {
    // Not a failure if the reader disconnected.
    if (ending.signal.aborted) return;
    failure = error;
    // HTTP/1.0 has no chunks: only a reset distinguishes an aborted response from a complete one.
    if (request.httpVersion === '1.0') response.socket?.resetAndDestroy();
    else response.destroy();
    ending.abort();
  };
  const timer = timeout ? setTimeout(abort, timeout, errors.tookTooLong()) : undefined;
  try {
    const rows = Readable.from(writes(list, request, stallTimeout, abort), { objectMode: false });
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

/**
 * The bytes of a list, write by write. Counts its objects in `request.rows`, and closes it.
 *
 * @param abort called with the failure to read the list, or without one if the reader stalls
 */
async function* writes(
  list: OpenList,
  request: CatalogueRequest,
  stallTimeout: number,
  abort: (error?: Error) => void,
): AsyncGenerator<Buffer> {
  try {
    for await (const { text, rows } of list.batches) {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += WRITE_SIZE) {
        const stalled = setTimeout(abort, stallTimeout);
        try {
          yield bytes.subarray(at, at + WRITE_SIZE);
        } finally {
          clearTimeout(stalled);
        }
      }
      request.rows = (request.rows ?? 0) + rows;
    }
  } catch (error) {
    abort(error as Error);
    throw error;
  } finally {
    // Before the response ends: a client that has read it may ask for the next list at once.
    await list.close();
  }
}
