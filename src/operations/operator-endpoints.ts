import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DataSource } from 'typeorm';
import { pendingMigrations } from '../database/migrate.js';
import { refuse } from '../http/envelope.js';
import { errors } from '../http/errors.js';
import { answer, answerHealth } from './health.js';
import { Metrics } from './metrics.js';

/** Milliseconds that a database has to say that it is there. */
const PATIENCE = 2000;

const PATHS = ['/health/live', '/health/ready', '/metrics'];

/** What operators ask: `/health/live`, `/health/ready` and `/metrics`, without credentials. */
@Injectable()
export class OperatorEndpoints {
  private draining = false;
  private isMigrated = false;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly metrics: Metrics,
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
      refuse(response, errors.methodNotAllowed(method).withHeaders({ Allow: 'GET, HEAD' }));
      return true;
    }
    if (answerHealth(request, response, () => this.readiness())) return true;
    void this.metrics.registry.metrics().then((text) => {
      answer(response, 200, this.metrics.registry.contentType, text);
    });
    return true;
  }

  /** Why the service should not be sent requests; `undefined` where it should. */
  private async readiness(): Promise<string | undefined> {
    if (this.draining) return 'draining';
    try {
      return await Promise.race([this.databaseProblem(), tooLate()]);
    } catch {
      return 'database';
    }
  }

  private async databaseProblem(): Promise<string | undefined> {
    if (this.isMigrated) {
      await this.dataSource.query('SELECT 1');
      return undefined;
    }
    this.isMigrated = (await pendingMigrations(this.dataSource)).length === 0;
    return this.isMigrated ? undefined : 'migrations';
  }
}

function tooLate(): Promise<string> {
  return new Promise((resolve) => {
    setTimeout(resolve, PATIENCE, 'database').unref();
  });
}
