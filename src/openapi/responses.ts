import { STATUS_CODES } from 'node:http';
import { type ErrorDefinition, errors } from '../http/errors.js';
import { type Json, objectOf } from './schema.js';

const text = (maxLength: number, pattern: string): Json => ({ type: 'string', maxLength, pattern });

const count = (description: string, example: number): Json => ({
  description,
  schema: { type: 'integer', format: 'int32', minimum: 0, maximum: 2_147_483_647 },
  example,
});

/** All response headers, except those of HTTP itself and the security headers. */
export function headers(rateLimit: number): Json {
  const defaultLimit = rateLimit === 0 ? 'no limit' : String(rateLimit);
  return {
    'X-Request-Id': {
      description: 'Names the request in the log: the client’s own, if it sent a plain token.',
      schema: text(128, '^[A-Za-z0-9._~-]+$'),
      example: '3f0d2a4e-5b1c-4a6e-9d65-0b4b1a2c7f10',
    },
    'X-RateLimit-Limit': count(
      `Requests that the client may make in a minute: ${defaultLimit}, unless it has a limit of its own. A client without one gets none of these headers.`,
      rateLimit,
    ),
    'X-RateLimit-Remaining': count(
      'Requests that it has left of them.',
      Math.max(0, rateLimit - 1),
    ),
    'X-RateLimit-Reset': count('Seconds until they are counted anew.', 42),
    'Cache-Control': {
      description: 'Who may keep the response, and that it is to be asked for again.',
      schema: text(100, '^[a-z, =0-9-]+$'),
      example: 'private, no-cache',
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
        'A time before which no change is missing from the answer: what to ask for next as `updatedSince`.',
      schema: { type: 'string', format: 'date-time', maxLength: 24 },
      example: '2026-11-21T12:00:00.000Z',
    },
    Link: {
      description:
        'Other pages of the list (RFC 8288): `next`, `prev`, `first`, `last`, and `after`, which is `next` by identifier. Without credentials.',
      schema: text(8192, '^<.+>; rel="(next|prev|after|first|last)"'),
      example: '</products?limit=50&offset=50>; rel="next"',
    },
    'Retry-After': count('Seconds after which to try again.', 1),
    'WWW-Authenticate': {
      description: 'How to show credentials (RFC 9110).',
      schema: text(100, '^Bearer '),
      example: 'Bearer realm="catalogue"',
    },
    Allow: {
      description: 'The methods that the path takes.',
      schema: text(100, '^[A-Z, ]+$'),
      example: 'GET, HEAD, OPTIONS',
    },
  };
}

/** References to headers by name. */
export function headersNamed(...names: string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export const COMMON = ['X-Request-Id', 'Cache-Control', 'Vary'];
export const COUNTED = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** The possible errors of every path, even without credentials. */
export const ANYWHERE: readonly ErrorDefinition[] = [
  errors.internal,
  errors.busy,
  errors.malformed,
  errors.tooLarge,
];

/** The possible errors of every request that needs credentials. */
export const WITH_CREDENTIALS: readonly ErrorDefinition[] = [
  ...ANYWHERE,
  errors.unavailable,
  errors.tookTooLong,
  errors.credentialMissing,
  errors.credentialsInvalid,
  errors.tokenExpired,
  errors.clientDisabled,
  errors.credentialRepeated,
  errors.parameterUndefined,
  errors.parameterRepeated,
  errors.limitExceeded,
];

/** Collects the error responses of the document, so that each is defined once. */
export class ErrorResponses {
  /** The response objects by name, for `components.responses`. */
  readonly responses: Record<string, Json> = {};
  private readonly names = new Map<string, string>();

  /** References to a response for each HTTP status of some errors, with an example per errcode. */
  of(definitions: readonly ErrorDefinition[]): Json {
    const statuses = [...new Set(definitions.flatMap((definition) => definition.statuses))];
    return Object.fromEntries(
      statuses.sort().map((status) => {
        const possible = Object.entries<ErrorDefinition>(errors).filter(
          ([, definition]) =>
            definitions.includes(definition) && definition.statuses.includes(status),
        );
        return [status, { $ref: `#/components/responses/${this.name(status, possible)}` }];
      }),
    );
  }

  /** The name of the error if there is only one, otherwise the name of the status with a number. */
  private name(status: number, possible: [string, ErrorDefinition][]): string {
    const key = `${status} ${possible.map(([name]) => name).join()}`;
    const existing = this.names.get(key);
    if (existing !== undefined) return existing;
    const [[error, { statuses }] = ['', errors.internal]] = possible;
    const base =
      possible.length === 1 && statuses.length === 1
        ? error.charAt(0).toUpperCase() + error.slice(1)
        : (STATUS_CODES[status] ?? '').replace(/[^A-Za-z]/g, '');
    let name = base;
    for (let at = 2; name in this.responses; at += 1) name = `${base}${at}`;
    this.names.set(key, name);
    this.responses[name] = errorResponse(
      status,
      possible.map(([, definition]) => definition),
    );
    return name;
  }
}

function errorResponse(status: number, definitions: readonly ErrorDefinition[]): Json {
  const codes = definitions.map(({ errcode }) => String(errcode));
  const isCounted = definitions.some((definition) => AFTER_COUNTING.includes(definition));
  return {
    description: `${STATUS_CODES[status] ?? ''}: ${definitions.map(({ condition }) => condition).join('; ')}.`,
    headers: headersNamed(
      ...COMMON,
      ...(isCounted ? COUNTED : []),
      ...(status === 401 ? ['WWW-Authenticate'] : []),
      ...(status === 429 || status === 503 ? ['Retry-After'] : []),
    ),
    content: {
      'application/json': {
        schema: objectOf({
          result: objectOf({
            status: { const: 'ERROR' },
            errcode: { type: 'string', enum: codes },
            msg: { type: 'string', minLength: 1, maxLength: 65_536, pattern: '^[^\\u0000]+$' },
          }),
        }),
        examples: Object.fromEntries(
          definitions.map(({ errcode, condition, message }) => [
            String(errcode),
            {
              summary: condition,
              value: { result: { status: 'ERROR', errcode: String(errcode), msg: message } },
            },
          ]),
        ),
      },
    },
  };
}

/** Errors that occur after the request was counted, so that they have rate limit headers. */
const AFTER_COUNTING: readonly ErrorDefinition[] = [
  errors.limitExceeded,
  errors.parameterInvalid,
  errors.parameterMissing,
  errors.parameterUndefined,
  errors.parameterRepeated,
  errors.objectUnknown,
];
