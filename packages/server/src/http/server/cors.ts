import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CorsOrigins } from '../../settings/settings.js';
import { ALLOWED_METHODS } from '../errors.js';
import { type HeaderList, VARY, COMMON_HEADERS } from './headers.js';

/** The headers of responses that a page of another origin may read, beside those that it always may. */
const EXPOSED = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Total-Count',
  'X-Updated-Until',
  'ETag',
  'Link',
  'Retry-After',
  'Preference-Applied',
  'Allow',
  'WWW-Authenticate',
];

const PREFLIGHT_HEADERS: HeaderList = [
  ['Access-Control-Allow-Methods', ALLOWED_METHODS],
  // Those that the service reads and that a page may not send without being asked.
  [
    'Access-Control-Allow-Headers',
    'Authorization, X-Client-ID, X-Request-Id, If-None-Match, Prefer',
  ],
  // Two hours, the longest that Chromium keeps it. It allows nothing that a later one may refuse: an
  // origin that is no longer allowed cannot read the response itself.
  ['Access-Control-Max-Age', '7200'],
];

/** Of a response that depends on the origin. */
const VARY_BY_ORIGIN = { Vary: `${VARY}, Origin` };

/**
 * The CORS headers of responses, and the answers to preflights (https://fetch.spec.whatwg.org/#http-cors-protocol).
 *
 * There is no `Access-Control-Allow-Credentials`, since no cookie identifies a client.
 */
export class Cors {
  /** The headers of every response to a page, by its origin. */
  private readonly byOrigin: ReadonlyMap<string, HeaderList>;
  /** The headers of every response to any other request, except `X-Request-Id`. */
  readonly defaultHeaders: HeaderList;
  private readonly isEnabled: boolean;

  constructor(origins: CorsOrigins) {
    const names = origins === '*' ? [] : origins;
    this.isEnabled = origins.length > 0;
    this.byOrigin = new Map(names.map((origin) => [origin, readable(origin, VARY_BY_ORIGIN)]));
    if (origins === '*') this.defaultHeaders = readable('*');
    else this.defaultHeaders = this.isEnabled ? changed(VARY_BY_ORIGIN) : COMMON_HEADERS;
  }

  /** The headers of the response to a request, except `X-Request-Id`. */
  headersFor({ headers: { origin = '' } }: IncomingMessage): HeaderList {
    return this.byOrigin.get(origin) ?? this.defaultHeaders;
  }

  /**
   * Answers a preflight. That of an origin that is not allowed gets the same status without the
   * headers, by which its browser knows.
   *
   * @param response with the headers of `headersFor`
   * @returns false for any other request
   */
  answerPreflight({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
    const isPreflight =
      method === 'OPTIONS' &&
      headers.origin !== undefined &&
      headers['access-control-request-method'] !== undefined;
    if (!this.isEnabled || !isPreflight) return false;
    if (response.hasHeader('Access-Control-Allow-Origin')) {
      for (const [name, value] of PREFLIGHT_HEADERS) response.setHeader(name, value);
    }
    response.statusCode = 204;
    response.end();
    return true;
  }
}

/** The headers of a response that pages of an origin may read. */
function readable(origin: string, changes = {}): HeaderList {
  return [
    ...changed({ ...changes, 'Cross-Origin-Resource-Policy': 'cross-origin' }),
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Expose-Headers', EXPOSED.join(', ')],
  ];
}

/** The headers of every response, with some changed. */
function changed(changes: Readonly<Record<string, string>>): HeaderList {
  return COMMON_HEADERS.map(([name, value]) => [name, changes[name] ?? value]);
}
