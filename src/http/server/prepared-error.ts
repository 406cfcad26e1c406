import type { ServerResponse } from 'node:http';
import type { CatalogueRequest } from '../catalogue-request.js';
import { errorEnvelope, JSON_TYPE } from '../envelope.js';
import type { ApiError } from '../errors.js';
import type { HeaderList } from './common-headers.js';

/**
 * An error response whose body and headers are computed once. An overloaded service sends the same one
 * to most requests, and the time that it takes is not available to those that were admitted.
 */
export class PreparedError {
  private readonly body: string;
  /** Names and values in turns, by the common headers that they contain. */
  private readonly headers = new Map<HeaderList, readonly string[]>();

  constructor(private readonly error: ApiError) {
    this.body = errorEnvelope(error);
  }

  /**
   * @param id the request id
   * @param common the headers of every response, except `X-Request-Id`: one of few lists
   */
  send(response: ServerResponse, id: string, common: HeaderList): void {
    const { errcode, status } = this.error;
    (response.req as CatalogueRequest).errcode = errcode;
    response.writeHead(status, ['X-Request-Id', id, ...this.headersWith(common)]);
    response.end(this.body);
  }

  private headersWith(common: HeaderList): readonly string[] {
    let headers = this.headers.get(common);
    if (!headers) {
      headers = [
        ...common,
        ...Object.entries(this.error.headers),
        ['Content-Type', JSON_TYPE],
        ['Content-Length', String(Buffer.byteLength(this.body))],
      ].flat();
      this.headers.set(common, headers);
    }
    return headers;
  }
}
