import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { encodingOf } from '../../http/compression.js';
import type { Answer } from '../../http/envelope.js';
import { traced } from '../../http/request-trace.js';
import type { PreparedList, StreamFormat } from '../reading/prepared-list.js';
import { CONTENT_TYPES } from './accept.js';
import { hasState, isTagged, setState } from './entity-tag.js';
import { clientOf, ReadLimit } from './read-limit.js';
import { sendRows } from './send-rows.js';
import { StreamLimit } from './stream-limit.js';

/** Answers with a whole list, without an envelope. */
@Injectable()
export class StreamServer {
  constructor(
    private readonly streams: StreamLimit,
    private readonly readLimit: ReadLimit,
  ) {}

  async answer(
    prepared: PreparedList,
    format: StreamFormat,
    request: CatalogueRequest,
    response: Response,
  ): Promise<Answer> {
    const { 'if-none-match': ifNoneMatch, 'accept-encoding': acceptEncoding } = request.headers;
    // Before statements are written for a list that cannot be opened. A 304 opens none.
    if (ifNoneMatch === undefined) this.streams.requireRoom(clientOf(request));
    const hasTag = await isTagged(prepared, this.readLimit, request, response);
    const whole = prepared.whole(format);
    if (ifNoneMatch !== undefined && hasTag) {
      const state = await traced(request, 'version', () => prepared.state());
      if (hasState(request, state, whole.key)) {
        setState(response, state, whole.key);
        return { status: 304 };
      }
    }
    const ending = endingOf(response);
    const list = await traced(request, 'query', () =>
      this.streams.open(whole, clientOf(request), ending.signal),
    );
    if (hasTag) setState(response, list, whole.key);
    response.setHeader('Content-Type', CONTENT_TYPES[format]);
    response.setHeader('X-Total-Count', list.count);
    const encoding = encodingOf(acceptEncoding);
    const write = () =>
      traced(request, 'serialisation', () =>
        sendRows(request, response, list, this.streams.limits, ending, encoding),
      );
    return { status: 200, encoding, write };
  }
}

/** Is aborted when the response is closed. */
function endingOf(response: Response): AbortController {
  const ending = new AbortController();
  response.once('close', () => {
    ending.abort();
  });
  if (response.destroyed) ending.abort();
  return ending;
}
