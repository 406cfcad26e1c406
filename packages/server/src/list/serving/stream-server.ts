import { Injectable } from '@nestjs/common';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CatalogueRequest } from '../../http/request.js';
import {
  createCompressor,
  type Encoding,
  formOf,
  type StreamFormat,
} from '../../http/negotiation.js';
import type { Answer } from '../../http/envelope.js';
import { apiErrorOf } from '../../http/error.filter.js';
import { errors } from '../../http/errors.js';
import { traced } from '../../http/observation.js';
import { Settings } from '../../settings/settings.js';
import type { OpenList, PreparedStream } from '../reading/prepared-list.js';
import { ChangeWait, entityTag, hasTag, setState } from './conditional.js';
import { clientOf, StreamLimit } from './read-limit.js';

const CONTENT_TYPES: Readonly<Record<StreamFormat, string>> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};

/** Bytes per write. A reader stalls if it does not read this many within `stallTimeout`. */
const WRITE_SIZE = 16_384;

/** Milliseconds for which a list waits for room that has waited for a change: all that did so come at once. */
const PATIENCE = 5000;

/** Answers with a whole list, without an envelope. */
@Injectable()
export class StreamServer {
  /** Milliseconds after which a list is aborted if its reader reads nothing. */
  readonly stallTimeout = 60_000;

  constructor(
    private readonly settings: Settings,
    private readonly streams: StreamLimit,
    private readonly changeWait: ChangeWait,
  ) {}

  async answer(
    prepared: PreparedStream,
    format: StreamFormat,
    request: CatalogueRequest,
  ): Promise<Answer> {
    const { 'if-none-match': ifNoneMatch } = request.headers;
    // Before statements are written for a list that cannot be opened. A 304 opens none.
    if (ifNoneMatch === undefined) this.streams.requireRoom(clientOf(request));
    const { isVersioned, isPartial } = prepared;
    const whole = prepared.whole(format);
    if (ifNoneMatch !== undefined && isVersioned && !isPartial) {
      const state = await traced(request, 'version', () => prepared.state());
      const tag = entityTag(state, whole.key);
      if (hasTag(request, tag)) return this.changeWait.unchanged(prepared, state, tag, request);
    }
    const ending = endingOf(request);
    const list = await traced(request, 'query', () =>
      this.streams.open(whole, clientOf(request), ending.signal, request.waited ? PATIENCE : 0),
    );
    const later = isVersioned && (await this.changeWait.answer(prepared, list, request));
    if (later) return later;
    // For a client that does not see every column a tag would be that of what it sees, which is not read yet.
    const tag = isPartial ? undefined : entityTag(list, whole.key);
    if (isVersioned) setState(prepared, request, list, tag);
    request.res.setHeader('Content-Type', CONTENT_TYPES[format]);
    request.res.setHeader('X-Total-Count', list.count);
    const { encoding } = formOf(request);
    const write = () =>
      traced(request, 'serialisation', () => this.send(list, request, ending, encoding));
    return { status: 200, encoding, write };
  }

  /**
   * Sends a list at the speed of its reader, and closes it. If reading the list fails, or a timeout
   * passes, it aborts the response, so that the client does not take it for complete.
   *
   * @throws Error the failure, if there is one; a reader that disconnects is not a failure
   */
  private async send(
    list: OpenList,
    request: CatalogueRequest,
    ending: AbortController,
    encoding: Encoding | undefined,
  ): Promise<void> {
    const response = request.res;
    request.rows = 0;
    request.cutOffAs = 0;
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
      // Before the response is closed, which reports the request.
      if (error) {
        const { errcode, status } = apiErrorOf(error);
        request.errcode = errcode;
        request.cutOffAs = status;
      }
      // HTTP/1.0 has no chunks: only a reset distinguishes an aborted response from a complete one.
      if (request.httpVersion === '1.0') response.socket?.resetAndDestroy();
      else response.destroy();
      ending.abort();
    };
    const { streamTimeout: timeout } = this.settings;
    const timer = timeout ? setTimeout(abort, timeout, errors.tookTooLong()) : undefined;
    try {
      const rows = Readable.from(this.writes(list, request, abort), { objectMode: false });
      const compressors = encoding ? [createCompressor(encoding)] : [];
      await pipeline([rows, ...compressors, response], { signal: ending.signal });
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
  private async *writes(
    list: OpenList,
    request: CatalogueRequest,
    abort: (error?: Error) => void,
  ): AsyncGenerator<Buffer> {
    try {
      for await (const { text, rows } of list.batches) {
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length; at += WRITE_SIZE) {
          const stalled = setTimeout(abort, this.stallTimeout);
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
}

/** Is aborted when the response is closed. */
function endingOf({ res: response }: CatalogueRequest): AbortController {
  const ending = new AbortController();
  response.once('close', () => {
    ending.abort();
  });
  if (response.destroyed) ending.abort();
  return ending;
}
