import { Injectable } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pendingMigrations } from '../database/migrate.js';
import { ReservedConnections } from '../database/reserved-connections.js';
import { sendError } from '../http/envelope.js';
import { busy, errors } from '../http/errors.js';
import { Admission } from '../http/server/admission.js';
import { BriefCache } from './brief-cache.js';
import { answer, answerHealth } from './health.js';
import { Metrics } from './metrics.js';
import { SchemaCheck } from '../schema/schema-check.js';

/** Milliseconds that a database has to say that it is there. */
const PATIENCE = 2000;

/** Requests of one connection that are answered at a time. Those of all share their answer. */
const MAX_PER_CONNECTION = 8;

const PATHS = ['/health/live', '/health/ready', '/metrics'];

/** What operators ask: `/health/live`, `/health/ready` and `/metrics`, without credentials. */
@Injectable()
export class OperatorEndpoints {
  private draining = false;
  private isMigrated = false;
  private readonly admission = new Admission(Infinity, MAX_PER_CONNECTION);
  /** Only a good answer is kept. A bad one is checked again for the next request. */
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

  /** From now on the service is not ready, so that no proxy sends it more. */
  drain(): void {
    this.draining = true;
  }

  /** Answers a request for one of its paths; false leaves any other to others. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (!PATHS.includes(path)) return false;
    const { method = '' } = request;
    if (method !== 'GET' && method !== 'HEAD') {
      sendError(response, errors.methodNotAllowed(method).withHeaders({ Allow: 'GET, HEAD' }));
      return true;
    }
    if (!this.admission.enter(response)) {
      sendError(response, busy());
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

  /** Why the service should not be sent requests; `undefined` where it should. */
  private async readiness(): Promise<string | undefined> {
    if (this.draining) return 'draining';
    try {
      const problem = await Promise.race([this.database.get(), tooLate()]);
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

function tooLate(): Promise<string> {
  return new Promise((resolve) => {
    setTimeout(resolve, PATIENCE, 'database').unref();
  });
}
