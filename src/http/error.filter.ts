import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { Response } from 'express';
import { types } from 'node:util';
import { databaseError } from '../database/database-failure.js';
import type { CatalogueRequest } from './catalogue-request.js';
import { refuse } from './envelope.js';
import { ApiError, errors } from './errors.js';

/** Milliseconds in which a failure of the database is told once for each errcode, however many it hits. */
const QUIET = 1000;

/** Turns whatever was thrown into the envelope of a refusal. Nothing of a fault of ours leaves the log. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);
  /** When each errcode was told last, on the monotonic clock. */
  private readonly told = new Map<number, number>();

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<CatalogueRequest>();
    const response = http.getResponse<Response>();
    const error = thrown instanceof ApiError ? thrown : this.refusalOf(thrown, request);
    refuse(response, error);
  }

  private refusalOf(thrown: unknown, request: CatalogueRequest): ApiError {
    const error = databaseError(thrown) ?? errors.internal();
    const now = performance.now();
    if (error.status !== 500 && now - (this.told.get(error.errcode) ?? -QUIET) < QUIET) {
      return error;
    }
    this.told.set(error.errcode, now);
    // Not the path, in which a client may have put anything.
    const { path = 'without a route' } = (request.route ?? {}) as { path?: string };
    const cause = types.isNativeError(thrown) ? thrown : new Error(String(thrown));
    this.logger.error(`${request.id} ${request.method} ${path} ${error.errcode}: ${cause.message}`);
    if (error.status === 500) this.logger.error(cause.stack);
    return error;
  }
}
