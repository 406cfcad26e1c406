import type { ServerResponse } from 'node:http';
import { errorEnvelope, JSON_TYPE, markError } from '../envelope.js';
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
   * @param isLast whether the connection is closed after it
   */
  send(response: ServerResponse, id: string, common: HeaderList, isLast: boolean): void {
    markError(response, this.error);
    const headers = ['X-Request-Id', id, ...this.headersWith(common)];
    if (isLast) headers.push('Connection', 'close');
    response.writeHead(this.error.status, headers);
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
