import { PRIVATE } from '../http/server/headers.js';
import type { Json } from './schema.js';

const text = (maxLength: number, pattern: string): Json => ({ type: 'string', maxLength, pattern });

const count = (description: string, example: number): Json => ({
  description,
  schema: { type: 'integer', format: 'int32', minimum: 0, maximum: 2_147_483_647 },
  example,
});

/** All response headers, except those of HTTP itself and the security headers. */
export function headers(rateLimit: number): Json {
  return {
    'X-Request-Id': {
      description: 'Names the request in the log: the client’s own, if it sent a plain token.',
      schema: text(128, '^[A-Za-z0-9._~-]+$'),
      example: '3f0d2a4e-5b1c-4a6e-9d65-0b4b1a2c7f10',
    },
    ...rateHeaders(rateLimit),
    'Cache-Control': {
      description: 'Who may keep the response, and for how long without asking for it again.',
      schema: text(100, '^[a-z, =0-9-]+$'),
      example: PRIVATE,
    },
    Vary: {
      description: 'The headers of the request on which the response depends.',
      schema: text(100, '^[A-Za-z, -]+$'),
      example: 'Accept, Authorization, Accept-Encoding',
    },
    ETag: {
      description:
        'Names the page or the object as it is now, for `If-None-Match`. A list that depends on more than resources, such as the time, has none.',
      schema: text(200, '^(W/)?".*"$'),
      example: 'W/"1042-Zk3vY1x0aB7q"',
    },
    'Content-Encoding': {
      description: 'How the body is compressed, if `Accept-Encoding` allows it and it is worth it.',
      schema: { type: 'string', enum: ['br', 'gzip'] },
      example: 'br',
    },
    'X-Total-Count': {
      description: 'With NDJSON and CSV: all that match, whatever `limit` and `offset` say.',
      schema: text(20, '^[0-9]+$'),
      example: '2779',
    },
    'X-Updated-Until': {
      description:
        'Every change made before this time is in the response: what to ask for next as `updatedSince` or `since`.',
      schema: { type: 'string', format: 'date-time', maxLength: 49 },
      example: '2026-11-21T12:00:00.0001234567890000000012345678Z',
    },
    Link: {
      description:
        'Other pages of the list (RFC 8288): `next`, `prev`, `first`, `last`, and `after`, which is `next` by identifier. Relative to the URL of the list, without credentials.',
      schema: text(8192, '^<\\?.*>; rel="(next|prev|after|first|last)"'),
      example: '<?limit=50&offset=50>; rel="next"',
    },
    'Preference-Applied': {
      description: 'That the request could wait for a change, and for how many seconds (RFC 7240).',
      schema: text(7, '^wait=[0-9]+$'),
      example: 'wait=50',
    },
    'Retry-After': count('Seconds after which to try again.', 1),
    'WWW-Authenticate': {
      description: 'How to show credentials (RFC 9110).',
      schema: text(100, '^Bearer '),
      example: 'Bearer realm="catalogue"',
    },
  };
}

function rateHeaders(rateLimit: number): Json {
  const defaultLimit = rateLimit === 0 ? 'no limit' : String(rateLimit);
  return {
    'X-RateLimit-Limit': count(
      `Requests that the client may make in a minute: ${defaultLimit}, unless it has a limit of its own. A client without one gets none of these headers.`,
      rateLimit,
    ),
    'X-RateLimit-Remaining': count(
      'Requests that it has left of them.',
      Math.max(0, rateLimit - 1),
    ),
    'X-RateLimit-Reset': count('Seconds until the count starts again.', 42),
  };
}

/** References to headers by name. */
export function headersNamed(...names: string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Headers of every response. */
export const COMMON = ['X-Request-Id', 'Cache-Control', 'Vary'];
/** Headers of every response to a request that counts against the rate limit. */
export const RATE_LIMIT = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** The alternatives for credentials: in headers or in the query, not in both. A public client needs no token. */
export const CREDENTIALS = [
  { 'X-Client-ID': [], Authorization: [] },
  { clientID: [], access_token: [] },
  { clientID: [] },
  { 'X-Client-ID': [] },
];

/** The credentials, for `components.securitySchemes`. */
export const SECURITY_SCHEMES = {
  'X-Client-ID': apiKey(
    'header',
    'X-Client-ID',
    'Who asks, beside the header Authorization; a public client without a token.',
  ),
  Authorization: {
    type: 'http',
    scheme: 'bearer',
    description: 'The access token of the client, an opaque text: RFC 6750.',
  },
  clientID: apiKey(
    'query',
    'clientID',
    'Who asks, beside the parameter access_token; a public client without a token.',
  ),
  access_token: apiKey(
    'query',
    'access_token',
    'The access token of the client. Query strings end up in logs: prefer the headers.',
  ),
};

function apiKey(where: 'header' | 'query', name: string, description: string): Json {
  return { type: 'apiKey', in: where, name, description };
}
