import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Logger,
} from '@nestjs/common';
import type { Response } from 'express';
import { types } from 'node:util';
import {
  type DatabaseFailure,
  databaseFailure,
  PoolOverloadedError,
} from '../database/database-failure.js';
import { SchemaDoubt } from '../database/schema-doubt.js';
import type { CatalogueRequest } from './catalogue-request.js';
import { sendError } from './envelope.js';
import { ApiError, errors } from './errors.js';
import { errorOfException } from './exceptions.js';

/** Milliseconds between two log lines about database failures of the same errcode. */
const LOG_INTERVAL = 1000;

/** The error response to each failure of the database. */
const RESPONSES: Readonly<Record<DatabaseFailure, () => ApiError>> = {
  unreachable: errors.unavailable,
  foreign: errors.unavailable,
  timeout: errors.tookTooLong,
  conflict: errors.busy,
  overloaded: errors.busy,
};

/**
 * The error response for a thrown value; `-1` if it is neither an `ApiError` nor an exception of Nest nor a
 * database failure.
 */
export function apiErrorOf(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof HttpException) return errorOfException(thrown);
  const failure = databaseFailure(thrown);
  return failure ? RESPONSES[failure]() : errors.internal();
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
    if (status !== 500 && now - latest < LOG_INTERVAL) return;
    this.logged.set(errcode, now);
    // The path pattern, because the path itself may contain any text that a client sent.
    const { path = 'without a route' } = (request.route ?? {}) as { path?: string };
    const cause = types.isNativeError(thrown) ? thrown : new Error(String(thrown));
    this.logger.error(`${request.id} ${request.method} ${path} ${errcode}: ${cause.message}`);
    if (status === 500) this.logger.error(cause.stack);
  }
}
