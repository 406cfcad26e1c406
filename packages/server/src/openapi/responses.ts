import { STATUS_CODES } from 'node:http';
import { errorEnvelope } from '../http/envelope.js';
import { type ErrorDefinition, errors } from '../http/errors.js';
import { COMMON, RATE_LIMIT, headersNamed } from './headers.js';
import { type Json, objectOf, referenceTo } from './schema.js';

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
