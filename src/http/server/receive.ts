import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { CatalogueRequest } from '../catalogue-request.js';
import { type ApiError, errors } from '../errors.js';
import { COMMON_HEADERS } from './common-headers.js';
import { isPercentEncoded, parseQuery } from '../parameters/query-string.js';

/** Bytes of a request target; what is longer is refused with 414 before anything looks at it. */
const MAX_TARGET_LENGTH = 16_384;

/**
 * The first thing that happens to a request, before Express looks at it: it gets its id and the
 * headers that every response carries, and its target is taken apart, once. Gives the refusal of
 * what is no valid target.
 */
export function receive(request: CatalogueRequest, response: ServerResponse): ApiError | undefined {
  request.id = requestId(request);
  response.setHeader('X-Request-Id', request.id);
  for (const [name, value] of COMMON_HEADERS) response.setHeader(name, value);
  const { host = [] } = request.headersDistinct;
  // Node answers a missing Host by itself, without a body, unless it is told to leave that to us.
  if (host.length > 1 || (host.length === 0 && request.httpVersion === '1.1')) {
    return errors.malformed();
  }
  const target = originForm(request.url);
  if (target === undefined || target.includes('#') || !isPercentEncoded(target)) {
    return errors.malformed();
  }
  if (target.length > MAX_TARGET_LENGTH) return errors.tooLarge();
  const [path = '', ...query] = target.split('?');
  if (!isUtf8(path)) return errors.malformed();
  request.url = target;
  request.parameters = parseQuery(query.join('?'));
  return undefined;
}

/** The client's own id where it is a plain token, and not the one that no log may hold; else a new one. */
function requestId({ headers, url }: CatalogueRequest): string {
  const { 'x-request-id': sent, authorization = '' } = headers;
  if (typeof sent !== 'string' || !/^[A-Za-z0-9._~-]{1,128}$/.test(sent)) return randomUUID();
  const isSecret =
    `${url}&`.includes(`access_token=${sent}&`) || authorization.split(' ').includes(sent);
  return isSecret ? randomUUID() : sent;
}

/**
 * A target as path and query alone; `undefined` where it has none. A proxy may send the absolute
 * form (RFC 9112, section 3.2.2).
 */
function originForm(url: string): string | undefined {
  if (url.startsWith('/') || url === '*') return url;
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '');
  if (path === url || !URL.canParse(url)) return undefined;
  return path.startsWith('/') ? path : `/${path}`;
}

function isUtf8(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
