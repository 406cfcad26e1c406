import { randomUUID } from 'node:crypto';
import type { NextFunction, Response } from 'express';
import type { CatalogueRequest } from './catalogue-request.js';
import { errors } from './errors.js';
import { isPercentEncoded, parseQuery } from './query-string.js';

/** Bytes of a request target; what is longer is refused with 414 before anything looks at it. */
const MAX_TARGET_LENGTH = 16_384;

/**
 * The first thing that happens to a request: it gets its id and the headers that every response
 * carries, and its target is taken apart, once. Refuses what is no valid target.
 */
export function receive(request: CatalogueRequest, response: Response, next: NextFunction): void {
  request.id = requestId(request.headers['x-request-id']);
  request.parameters = [];
  response.setHeader('X-Request-Id', request.id);
  response.setHeader('Cache-Control', 'private, no-cache');
  response.setHeader('Vary', 'Authorization, Accept-Encoding');

  const target = originForm(request.url);
  // Node answers a missing Host by itself, without a body, unless it is told to leave that to us.
  const lacksHost = request.httpVersion === '1.1' && request.headers.host === undefined;
  const [path = '', ...query] = target.split('?');
  if (target.length > MAX_TARGET_LENGTH) {
    next(errors.tooLarge());
  } else if (lacksHost || target.includes('#') || !isPercentEncoded(target) || !isUtf8(path)) {
    next(errors.malformed());
  } else {
    request.url = target;
    request.parameters = parseQuery(query.join('?'));
    next();
  }
}

/** The client's own id where it is a plain token, else a new one. */
function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && /^[A-Za-z0-9._~-]{1,128}$/.test(sent) ? sent : randomUUID();
}

/** A target as path and query alone: a proxy may send the absolute form (RFC 9112, section 3.2.2). */
function originForm(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]*(?=\/)/i, '');
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
