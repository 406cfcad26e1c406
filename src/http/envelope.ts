import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Encoding } from './compression.js';
import type { ApiError } from './errors.js';
import type { OpenList } from '../list/serving/listing.js';

/** What a list endpoint answers with: the exact total and one page, already as JSON text. */
export interface Page {
  /** How many objects match, an integer as text, whatever `limit`, `offset` and `fields` say. */
  readonly count: string;
  /** The JSON text of the array of objects. */
  readonly objects: string;
}

/** What becomes of a request that was taken. */
export interface Answer {
  readonly status: 200 | 304;
  /** The envelope, as JSON text; none with a 304. */
  readonly body?: string | Buffer;
  /** Instead of an envelope: a list that is sent whole. */
  readonly list?: OpenList;
  /** What the body is in, or what the list shall be put into; nothing unless given. */
  readonly encoding?: Encoding;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The JSON text of a successful answer. */
export function success({ count, objects }: Page): string {
  return `{"result":{"status":"OK","errcode":"0","msg":""},"response_data":{"count":"${count}","objects":${objects}}}`;
}

/** The JSON text of a refusal. */
export function failure({ errcode, message }: ApiError): string {
  return JSON.stringify({ result: { status: 'ERROR', errcode: String(errcode), msg: message } });
}

const refusals = new WeakMap<ServerResponse, ApiError>();

/** The refusal that a response is; `undefined` for any other. */
export function refusalOf(response: ServerResponse): ApiError | undefined {
  return refusals.get(response);
}

/** Writes a refusal as the whole response; cuts off one that has begun, so that it is not taken for whole. */
export function refuse(response: ServerResponse, error: ApiError): void {
  refusals.set(response, error);
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

/** Characters of a token, at least: whatever is shorter may be a word of the message. */
const TOKEN_LENGTH = 20;

/** A text that repeats what a client sent, with the client's token masked. */
export function withoutToken(message: string, { url = '', headers }: IncomingMessage): string {
  const sent = /[?&]access_token=([^&]*)/.exec(url)?.[1];
  const tokens = [sent ?? '', ...(headers.authorization ?? '').split(' ').slice(1)];
  return tokens
    .filter(({ length }) => length >= TOKEN_LENGTH)
    .reduce((text, token) => text.replaceAll(token, '…'), message)
    .replace(/(access_token(?:=|%3D))[^&\s]+/gi, '$1…');
}

/** Writes an envelope as the whole response; Node itself leaves the body out for `HEAD`. */
export function send(response: ServerResponse, status: number, body: string | Buffer): void {
  response.statusCode = status;
  response.setHeader('Content-Type', JSON_TYPE);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}
