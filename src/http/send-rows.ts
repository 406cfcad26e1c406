import type { Response } from 'express';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CatalogueRequest } from './catalogue-request.js';
import { compressing, type Encoding } from './compression.js';
import type { OpenList } from './listing.js';

/** Milliseconds that a reader may take nothing: he holds a connection and a snapshot meanwhile. */
export const patience = { milliseconds: 60_000 };
/** Bytes handed over at once; a reader who takes fewer within his time is one who takes nothing. */
const PIECE = 16_384;

/**
 * Sends a list as fast as its reader takes it, and closes it. Rejects where it cannot be read to its
 * end, with the response cut off so that its reader sees that it is not whole.
 */
export async function sendRows(
  request: CatalogueRequest,
  response: Response,
  list: OpenList,
  encoding?: Encoding,
): Promise<void> {
  let failure: unknown;
  request.rows = 0;

  async function* pieces(): AsyncGenerator<Buffer> {
    try {
      for await (const { text, rows } of list.batches) {
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length; at += PIECE) {
          const stalled = setTimeout(() => response.destroy(), patience.milliseconds);
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
      if (response.destroyed) return;
      failure = error;
      // Without chunks, only a reset tells a list that breaks off from one that ends.
      if (request.httpVersion === '1.0') response.socket?.resetAndDestroy();
      throw error;
    } finally {
      await list.close();
    }
  }

  if (request.method === 'HEAD') {
    await list.close();
    response.end();
    return;
  }
  try {
    const rows = Readable.from(pieces(), { objectMode: false });
    if (encoding) await pipeline(rows, compressing(encoding), response);
    else await pipeline(rows, response);
  } catch {
    if (failure !== undefined) throw failure as Error;
  } finally {
    await list.close();
  }
}
