import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Encoding } from './compression.js';
import type { ApiError } from './errors.js';

/** The data of a successful response: the exact count and the objects, already as JSON text. */
export interface Page {
  /** The number of matching objects, an integer as text, independent of `limit`, `offset` and `fields`. */
  readonly count: string;
  /** The JSON text of the array of objects. */
  readonly objects: string;
}

/** The response to a request that was accepted. */
export interface Answer {
  readonly status: 200 | 304;
  /** The envelope, as JSON text; absent with a 304. */
  readonly body?: string | Buffer;
  /** The content coding of the body; absent: none. */
  readonly encoding?: Encoding;
  /** Writes the rest of the response, in place of a body. */
  readonly write?: () => Promise<void>;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The JSON text of a successful answer. */
export function success({ count, objects }: Page): string {
  return `{"result":{"status":"OK","errcode":"0","msg":""},"response_data":{"count":"${count}","objects":${objects}}}`;
}

/** The JSON text of an error response. */
export function failure({ errcode, message }: ApiError): string {
  return JSON.stringify({ result: { status: 'ERROR', errcode: String(errcode), msg: message } });
}

const sentErrors = new WeakMap<ServerResponse, ApiError>();

/** The error that a response was answered with; `undefined` for any other response. */
export function sentErrorOf(response: ServerResponse): ApiError | undefined {
  return sentErrors.get(response);
}

/**
 * Writes an error as the whole response. A response that has begun is cut off instead, so that its
 * reader does not take it for complete.
 */
export function sendError(response: ServerResponse, error: ApiError): void {
  sentErrors.set(response, error);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  send(
    response,
    error.status,
    failure(error.withMessage(withoutToken(error.message, response.req))),
  );
}

/** Minimum characters of a token. Anything shorter may be a word of the message. */
const TOKEN_LENGTH = 20;

/** Masks the client's token in a text that repeats parts of the request. */
export function withoutToken(message: string, { url = '', headers }: IncomingMessage): string {
  const sent = /[?&]access_token=([^&]*)/.exec(url)?.[1];
  const tokens = [sent ?? '', ...(headers.authorization ?? '').split(' ').slice(1)];
  return tokens
    .filter(({ length }) => length >= TOKEN_LENGTH)
    .reduce((text, token) => text.replaceAll(token, '…'), message)
    .replace(/(access_token(?:=|%3D))[^&\s]+/gi, '$1…');
}

/** Writes an envelope as the whole response. Node itself omits the body for `HEAD`. */
export function send(response: ServerResponse, status: number, body: string | Buffer): void {
  response.statusCode = status;
  response.setHeader('Content-Type', JSON_TYPE);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}
