import { Injectable } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pendingMigrations } from '../database/migrate.js';
import { ReservedConnections } from '../database/reserved-connections.js';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { sendError } from '../http/envelope.js';
import { type ApiError, errors } from '../http/errors.js';
import { Admission } from '../http/server/admission.js';
import { receive } from '../http/server/receive.js';
import { BriefCache } from './brief-cache.js';
import { answer, answerHealth } from './health.js';
import { Metrics } from './metrics.js';
import { SchemaCheck } from '../schema/schema-check.js';

/** Milliseconds that the database has to respond to a readiness check. */
const DATABASE_TIMEOUT = 2000;

/** Maximum number of concurrent requests per connection. All connections share cached responses. */
const MAX_REQUESTS_PER_CONNECTION = 8;

const PATHS = ['/health/live', '/health/ready', '/metrics'];

/** Serves `/health/live`, `/health/ready` and `/metrics` to operators, without credentials. */
@Injectable()
export class OperatorEndpoints {
  private draining = false;
  private isMigrated = false;
  private readonly admission = new Admission(() => Infinity, MAX_REQUESTS_PER_CONNECTION);
  /** Only success is cached. After a failure, the next request checks again. */
  private readonly database = new BriefCache(
    () => this.databaseProblem(),
    (problem) => problem === undefined,
  );
  private readonly metricsText = new BriefCache(() => this.metrics.registry.metrics());

  constructor(
    private readonly connections: ReservedConnections,
    private readonly metrics: Metrics,
    private readonly schema: SchemaCheck,
  ) {}

  /** Makes the service not ready from now on, so that proxies send no more requests. */
  drain(): void {
    this.draining = true;
  }

  /**
   * Responds to a request for one of its paths, with the common headers and without those of CORS.
   *
   * @param knownError the error response, if it is known before the head is processed
   * @returns false for any other path
   */
  handle(request: IncomingMessage, response: ServerResponse, knownError?: ApiError): boolean {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (!PATHS.includes(path)) return false;
    const headError = receive(request as CatalogueRequest, response);
    const error = knownError ?? headError;
    if (error) {
      sendError(response, error);
      return true;
    }
    const { method = '' } = request;
    if (method !== 'GET' && method !== 'HEAD') {
      sendError(response, errors.methodNotAllowed(method).withHeaders({ Allow: 'GET, HEAD' }));
      return true;
    }
    if (!this.admission.add(response)) {
      sendError(response, errors.busy());
      return true;
    }
    if (answerHealth(request, response, () => this.readiness())) return true;
    this.metricsText.get().then(
      (text) => {
        answer(response, 200, this.metrics.registry.contentType, text);
      },
      () => {
        sendError(response, errors.internal());
      },
    );
    return true;
  }

  /** Why the service is not ready; `undefined` if it is ready. */
  private async readiness(): Promise<string | undefined> {
    if (this.draining) return 'draining';
    try {
      const problem = await Promise.race([this.database.get(), databaseTimeout()]);
      return problem ?? (this.schema.passed ? undefined : 'schema');
    } catch {
      return 'database';
    }
  }

  private async databaseProblem(): Promise<string | undefined> {
    const dataSource = await this.connections.connected();
    if (this.isMigrated) {
      await dataSource.query('SELECT 1');
      return undefined;
    }
    this.isMigrated = (await pendingMigrations(dataSource)).length === 0;
    return this.isMigrated ? undefined : 'migrations';
  }
}

function databaseTimeout(): Promise<string> {
  return new Promise((resolve) => {
    setTimeout(resolve, DATABASE_TIMEOUT, 'database').unref();
  });
}
