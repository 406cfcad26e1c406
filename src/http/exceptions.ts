import { STATUS_CODES } from 'node:http';
import type { HttpException } from '@nestjs/common';
import { type ApiError, CHALLENGE, errors } from './errors.js';
import { ALLOWED_METHODS } from './methods.js';

/** The seconds after which a request may be repeated that got a 429 without saying when. */
const RETRY_AFTER = '60';

/** The error response to each status of an exception. A reason is what the exception says to the client. */
const BY_STATUS: Readonly<Record<number, (reason: string) => ApiError>> = {
  401: () => errors.credentialsInvalid().withHeaders(CHALLENGE),
  403: (reason) => errors.forbidden(reason),
  404: (reason) => errors.objectUnknown('', '').withMessage(reason),
  405: (reason) =>
    errors.methodNotAllowed('').withMessage(reason).withHeaders({ Allow: ALLOWED_METHODS }),
  409: (reason) => errors.conflict(reason),
  410: (reason) => errors.gone(reason),
  414: () => errors.tooLarge(),
  422: (reason) => errors.unprocessable(reason),
  429: (reason) =>
    errors.limitExceeded('0').withMessage(reason).withHeaders({ 'Retry-After': RETRY_AFTER }),
  431: () => errors.tooLarge().withStatus(431),
  502: () => errors.unavailable(),
  503: () => errors.unavailable(),
  504: () => errors.tookTooLong(),
};

/**
 * The error response to an exception of Nest, such as `ForbiddenException`, by its status: `-27` for a
 * status of 4xx that has no errcode of its own, `-1` for any other.
 */
export function errorOfException(exception: HttpException): ApiError {
  const status = exception.getStatus();
  const reason = reasonOf(exception, status);
  const create = BY_STATUS[status];
  if (create) return create(reason);
  return status >= 400 && status < 500
    ? errors.refused(reason).withStatus(status)
    : errors.internal();
}

/** What an exception says to the client. The message of an error within it is for the log alone. */
function reasonOf(exception: HttpException, status: number): string {
  const response: unknown = exception.getResponse();
  const said: unknown =
    typeof response === 'object' && response !== null && !(response instanceof Error)
      ? (response as { message?: unknown }).message
      : response;
  const texts = [said].flat().filter((each) => typeof each === 'string' && each.trim() !== '');
  return texts.join('; ').toWellFormed() || (STATUS_CODES[status] ?? `Status ${status}`);
}
