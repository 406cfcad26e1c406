import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { CatalogueRequest } from '../catalogue-request.js';
import { ApiError, errors } from '../errors.js';
import { sentTokens } from '../sent-tokens.js';
import { COMMON_HEADERS, type HeaderList } from './headers.js';
import { decode, parseQuery, type SentParameter } from '../parameters/query-string.js';

/**
 * Maximum bytes of a request target. A longer one gets status 414. It is less than `maxHeaderSize` in `enveloped-server.ts`,
 * and that is less than `tune.bufsize` in `deploy/haproxy.cfg`.
 */
const MAX_TARGET_LENGTH = 16_384;

/**
 * Processes the head of a request before Express does. Sets the request id, the common response
 * headers, and the parsed parameters.
 *
 * @param headers those of every response, except `X-Request-Id`
 * @param id the request id
 * @returns the error for an invalid `Host` or request target; otherwise `undefined`
 */
export function receive(
  request: CatalogueRequest,
  response: ServerResponse,
  headers: HeaderList = COMMON_HEADERS,
  id = requestId(request),
): ApiError | undefined {
  request.id = id;
  response.setHeader('X-Request-Id', id);
  for (const [name, value] of headers) response.setHeader(name, value);
  const { host = [] } = request.headersDistinct;
  // RFC 9112, section 3.2: an HTTP/1.1 request has exactly one Host.
  if (host.length > 1 || (host.length === 0 && request.httpVersion === '1.1')) {
    return errors.malformed();
  }
  const target = parseTarget(request.url);
  if (target instanceof ApiError) return target;
  request.url = target.url;
  request.parameters = target.parameters;
  return undefined;
}

/** The origin form of a request target, its path and its parameters; or the error for an invalid one. */
export function parseTarget(
  target: string,
): { url: string; path: string; parameters: SentParameter[] } | ApiError {
  const url = validTarget(target);
  if (url === undefined) return errors.malformed();
  if (url.length > MAX_TARGET_LENGTH) return errors.tooLarge();
  const [path = '', ...query] = url.split('?');
  if (!decode(path).isWellFormed()) return errors.malformed();
  return { url, path, parameters: parseQuery(query.join('?')) };
}

/** What could be an access token: they are 256 bits in base64url. A `traceparent` is longer. */
const TOKEN_SHAPED = /(?<![\w-])[\w-]{43}(?![\w-])/;

/** The client's request id if it is a plain token without the access token; otherwise a new one. */
export function requestId(request: CatalogueRequest): string {
  const { 'x-request-id': sent } = request.headers;
  if (typeof sent !== 'string' || !/^[A-Za-z0-9._~-]{1,128}$/.test(sent)) return randomUUID();
  // The access token in an invalid target is not known, nor is one that is sent in a form that is refused.
  if (validTarget(request.url) === undefined || TOKEN_SHAPED.test(sent)) return randomUUID();
  return sentTokens(request).some((token) => sent.includes(token)) ? randomUUID() : sent;
}

/** Path and query of a request target; `undefined` if it is invalid, as with a `%` without two hexadecimal digits. */
function validTarget(url: string): string | undefined {
  const target = originForm(url);
  return target === undefined || /#|%(?![0-9A-Fa-f]{2})/.test(target) ? undefined : target;
}

/** Path and query of a target; `undefined` if it has none. A proxy may send the absolute form (RFC 9112, 3.2.2). */
function originForm(url: string): string | undefined {
  if (url.startsWith('/') || url === '*') return url;
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '');
  if (path === url || !URL.canParse(url)) return undefined;
  return path.startsWith('/') ? path : `/${path}`;
}
