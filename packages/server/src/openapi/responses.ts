import { STATUS_CODES } from 'node:http';
import { errorEnvelope } from '../http/envelope.js';
import { type ErrorDefinition, errors } from '../http/errors.js';
import { PRIVATE, VARY } from '../http/server/headers.js';
import { type Json, objectOf, referenceTo } from './schema.js';

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
      example: VARY,
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
  errors.forbidden,
  errors.parameterUndefined,
  errors.parameterRepeated,
  errors.limitExceeded,
];

/** The further errors of a custom handler, by the exceptions of Nest that it may throw. */
export const THROWN: readonly ErrorDefinition[] = [
  errors.refused,
  errors.objectUnknown,
  errors.conflict,
  errors.gone,
  errors.unprocessable,
];

/** Errors of requests that count against the rate limit, so that they have its headers. */
const RATE_LIMITED: readonly ErrorDefinition[] = [
  errors.limitExceeded,
  errors.parameterInvalid,
  errors.parameterUndefined,
  errors.parameterRepeated,
  errors.historyLost,
  errors.forbidden,
  ...THROWN,
];

/** The envelope of every error response, in `components.schemas`. */
export const ERROR_ENVELOPE = {
  ...objectOf({
    result: objectOf({
      status: { type: 'string', enum: ['ERROR'] },
      errcode: {
        description: 'What is wrong, as a code that never changes.',
        type: 'string',
        enum: Object.values(errors).map(({ errcode }) => String(errcode)),
      },
      msg: { description: 'What is wrong, and what to change.', type: 'string', minLength: 1 },
    }),
  }),
  description: 'A refusal or a failure. It has no `response_data`.',
};

/** The error responses of the document, one for each HTTP status, for `components.responses`. */
export function errorResponses(possible: ReadonlySet<ErrorDefinition>): Json {
  const definitions = Object.values(errors).filter((definition) => possible.has(definition));
  return Object.fromEntries(
    statusesOf(definitions).map((status) => [
      nameOf(status),
      errorResponse(
        status,
        definitions.filter(({ statuses }) => statuses.includes(status)),
      ),
    ]),
  );
}

/** The response to an `If-None-Match` that names what there is. */
export function notModified(...headers: string[]): Json {
  return {
    description: 'Not Modified: what `If-None-Match` names is what there is. No body.',
    headers: headersNamed(...COMMON, 'ETag', ...headers),
  };
}

/** References to the error responses of the HTTP statuses of some errors. */
export function errorReferences(definitions: readonly ErrorDefinition[]): Json {
  return Object.fromEntries(
    statusesOf(definitions).map((status) => [
      status,
      { $ref: `#/components/responses/${nameOf(status)}` },
    ]),
  );
}

function statusesOf(definitions: readonly ErrorDefinition[]): number[] {
  return [...new Set(definitions.flatMap(({ statuses }) => statuses))].sort();
}

/** The name of a response, such as `BadRequest`. */
function nameOf(status: number): string {
  return (STATUS_CODES[status] ?? '').replace(/[^A-Za-z]/g, '');
}

function errorResponse(status: number, definitions: readonly ErrorDefinition[]): Json {
  const isRateLimited = definitions.some((definition) => RATE_LIMITED.includes(definition));
  const examples = definitions.map(({ errcode, condition, example }) => [
    String(errcode),
    { summary: condition, value: JSON.parse(errorEnvelope(example)) as Json },
  ]);
  return {
    description: `${STATUS_CODES[status] ?? ''}: ${definitions.map(({ condition }) => condition).join('; ')}.`,
    headers: headersNamed(
      ...COMMON,
      ...(isRateLimited ? RATE_LIMIT : []),
      ...(status === 401 ? ['WWW-Authenticate'] : []),
      ...(status === 429 || status === 503 ? ['Retry-After'] : []),
    ),
    content: {
      'application/json': {
        schema: referenceTo('ErrorEnvelope'),
        examples: Object.fromEntries(examples) as Json,
      },
    },
  };
}
