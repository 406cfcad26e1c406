import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Logger,
} from '@nestjs/common';
import type { Response } from 'express';
import { STATUS_CODES } from 'node:http';
import { types } from 'node:util';
import {
  type DatabaseFailure,
  databaseFailure,
  PoolOverloadedError,
} from '../database/database-failure.js';
import { SchemaDoubt } from '../database/schema-doubt.js';
import type { CatalogueRequest } from './request.js';
import { sendError } from './envelope.js';
import { ALLOWED_METHODS, ApiError, errors } from './errors.js';

/** Milliseconds between two log lines about database failures of the same errcode. */
const LOG_PERIOD = 1000;

/** The error response to each failure of the database. */
const RESPONSES: Readonly<Record<DatabaseFailure, () => ApiError>> = {
  unreachable: errors.unavailable,
  foreign: errors.unavailable,
  timeout: errors.tookTooLong,
  conflict: errors.busy,
  overloaded: errors.busy,
};

/** The seconds after which a request may be repeated that got a 429 without saying when. */
const RETRY_AFTER = '60';

/** The error response to each status of an exception of Nest, which says a reason to the client. */
const BY_STATUS: Readonly<Record<number, (reason: string) => ApiError>> = {
  401: () => errors.credentialsInvalid(),
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

/** The error response for a thrown value; `-1` if it is no `ApiError`, exception of Nest or database failure. */
export function apiErrorOf(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof HttpException) return errorOfException(thrown);
  const failure = databaseFailure(thrown);
  return failure ? RESPONSES[failure]() : errors.internal();
}

/** `-27` for a status of 4xx that has no errcode of its own, `-1` for any other. */
function errorOfException(exception: HttpException): ApiError {
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

/** Sends an error response for every thrown value. The cause of an internal error is only logged. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);
  /** The `performance.now()` of the latest log line, by errcode. */
  private readonly logged = new Map<number, number>();

  constructor(private readonly schemaDoubt: SchemaDoubt) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const isSchema = await this.schemaDoubt.explains(thrown);
    const error = isSchema ? errors.unavailable() : apiErrorOf(thrown);
    // Expected errors need no log line in addition to that of the request.
    const isExpected =
      thrown instanceof ApiError ||
      thrown instanceof PoolOverloadedError ||
      (thrown instanceof HttpException && error.status < 500);
    if (!isExpected) this.log(thrown, error, http.getRequest<CatalogueRequest>());
    sendError(http.getResponse<Response>(), error);
  }

  private log(thrown: unknown, { status, errcode }: ApiError, request: CatalogueRequest): void {
    const now = performance.now();
    const latest = this.logged.get(errcode) ?? -Infinity;
    if (status !== 500 && now - latest < LOG_PERIOD) return;
    this.logged.set(errcode, now);
    // The path pattern, because the path itself may contain any text that a client sent.
    const { path = 'without a route' } = (request.route ?? {}) as { path?: string };
    const cause = types.isNativeError(thrown) ? thrown : new Error(String(thrown));
    this.logger.error(`${request.id} ${request.method} ${path} ${errcode}: ${cause.message}`);
    if (status === 500) this.logger.error(cause.stack);
  }
}
