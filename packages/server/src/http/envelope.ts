import type { ServerResponse } from 'node:http';
import { type CatalogueRequest, type SentRequest, sentTokens } from './request.js';
import { compress, COMPRESSION_THRESHOLD, type Encoding, formOf } from './negotiation.js';
import type { ApiError } from './errors.js';
import { traced } from './observation.js';

/** The data of a successful response: the exact count, and the objects as JSON text. */
export interface Page {
  /** The number of matching objects, an integer as text, independent of `limit`, `offset` and `fields`. */
  readonly count: string;
  /** The JSON text of the array of objects. */
  readonly objects: string;
}

/** A response other than an error response, before it is written. */
export interface Answer {
  readonly status: 200 | 304;
  /** The envelope as JSON text, compressed if `encoding` is set; absent for status 304. */
  readonly body?: string | Buffer;
  /** The content coding of the body; absent: none. */
  readonly encoding?: Encoding;
  /** Resolves when the request is to be run again, since there may be another answer; used instead of `body`. */
  readonly later?: Promise<void>;
  /** Writes a streamed response; used instead of `body`. */
  readonly write?: () => Promise<void>;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The envelope of a successful response, as JSON text. */
export function successEnvelope({ count, objects }: Page): string {
  return `{"result":{"status":"OK","errcode":"0","msg":""},"response_data":{"count":"${count}","objects":${objects}}}`;
}

/** The answer with a page in its envelope, compressed if the client accepts it and it is long enough. */
export function pageAnswer(
  page: Page,
  request: Pick<CatalogueRequest, 'headers' | 'form' | 'trace'>,
): Promise<Answer & { readonly body: Buffer }> {
  return traced(request, 'serialisation', async () => {
    const body = Buffer.from(successEnvelope(page));
    const encoding = body.length < COMPRESSION_THRESHOLD ? undefined : formOf(request).encoding;
    return { status: 200, body: encoding ? await compress(body, encoding) : body, encoding };
  });
}

/** The envelope of an error response, as JSON text. */
export function errorEnvelope({ errcode, message }: Pick<ApiError, 'errcode' | 'message'>): string {
  return JSON.stringify({ result: { status: 'ERROR', errcode: String(errcode), msg: message } });
}

/**
 * Sends an error response. If the response has already begun, it destroys the connection instead, so
 * that the client does not take a partial response for a complete one.
 */
export function sendError(response: ServerResponse, error: ApiError): void {
  const { errcode, status } = error;
  (response.req as CatalogueRequest).errcode = errcode;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  const message = redactToken(error.message, response.req);
  send(response, status, errorEnvelope({ errcode, message }));
}

/** Minimum characters of a text to redact. A shorter one may be a word of the message. */
const TOKEN_LENGTH = 20;

/** Replaces the client's token in a text that repeats parts of the request. */
export function redactToken(message: string, request: SentRequest): string {
  return sentTokens(request)
    .filter(({ length }) => length >= TOKEN_LENGTH)
    .reduce((text, token) => text.replaceAll(token, '…'), message)
    .replace(/(access_token(?:=|%3D))[^&\s]+/gi, '$1…');
}

/** Sends an envelope as a complete response. Node itself omits the body for `HEAD`. */
export function send(response: ServerResponse, status: number, body: string | Buffer): void {
  response.statusCode = status;
  response.setHeader('Content-Type', JSON_TYPE);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}
