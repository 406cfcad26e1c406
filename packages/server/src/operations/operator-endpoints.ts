import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { migrationNames, pendingMigrations } from '../database/migrate.js';
import { Primary } from '../database/primary.js';
import { Replicas } from '../database/replicas.js';
import { ReservedConnections } from '../database/reserved-connections.js';
import { type CatalogueRequest, receive } from '../http/request.js';
import { sendError } from '../http/envelope.js';
import { type ApiError, errors } from '../http/errors.js';
import { Admission } from '../http/server/admission.js';
import { SchemaCheck } from '../schema/schema-check.js';
import { Metrics } from './metrics.js';

/** Milliseconds for which the text of the metrics, and that the database is ready, are cached. */
const CACHE_TIME = 250;

/** Milliseconds that the database has to respond to a readiness check. */
const DATABASE_TIMEOUT = 2000;

/** Maximum number of concurrent requests per connection. All connections share cached responses. */
const MAX_REQUESTS_PER_CONNECTION = 8;

/** Serves `/health/live`, `/health/ready` and `/metrics` to operators, without credentials. */
@Injectable()
export class OperatorEndpoints {
  private draining = false;
  private isMigrated = false;
  private readonly admission = new Admission(Infinity, MAX_REQUESTS_PER_CONNECTION);
  /** Concurrent requests share one computation. A failure, or `undefined`, is not cached. */
  private readonly cache = new LRUCache<'database' | 'metrics', string>({
    max: 2,
    ttl: CACHE_TIME,
    fetchMethod: (key) =>
      key === 'metrics' ? this.metrics.registry.metrics() : this.checkDatabase(),
  });

  constructor(
    private readonly application: DataSource,
    private readonly connections: ReservedConnections,
    private readonly primary: Primary,
    private readonly replicas: Replicas,
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
    const check = healthCheckOf(request);
    if (!check && request.url?.split('?', 1)[0] !== '/metrics') return false;
    const headError = receive(request as CatalogueRequest, response);
    const error = knownError ?? headError ?? this.refusalOf(request, response);
    if (error) sendError(response, error);
    else void (check ? this.answerCheck(response, check) : this.answerMetrics(response));
    return true;
  }

  private refusalOf({ method = '' }: IncomingMessage, response: ServerResponse) {
    if (method !== 'GET' && method !== 'HEAD')
      return errors.methodNotAllowed(method).withHeaders({ Allow: 'GET, HEAD' });
    return this.admission.add(response) ? undefined : errors.busy();
  }

  private async answerCheck(response: ServerResponse, check: 'live' | 'ready'): Promise<void> {
    if (check === 'live') answerHealth(response);
    else answerHealth(response, await this.readiness(), this.primary.limitation);
  }

  private async answerMetrics(response: ServerResponse): Promise<void> {
    try {
      const text = (await this.cache.fetch('metrics')) ?? '';
      answer(response, 200, this.metrics.registry.contentType, text);
    } catch {
      sendError(response, errors.internal());
    }
  }

  /** Why the service is not ready; `undefined` if it is ready. */
  private async readiness(): Promise<string | undefined> {
    if (this.draining) return 'draining';
    try {
      const late = sleep(DATABASE_TIMEOUT, undefined, { ref: false }).then(() => {
        throw new Error('The database does not respond');
      });
      if (!(await Promise.race([this.cache.fetch('database'), late]))) return 'migrations';
      return this.schema.passed ? undefined : 'schema';
    } catch {
      return 'database';
    }
  }

  /** Resolves to `ready`, or to `undefined` while migrations are pending; rejects if the database does not respond. */
  private async checkDatabase(): Promise<string | undefined> {
    // Only lists since a time need the primary then.
    if (this.isMigrated && this.replicas.standIns.length > 0) return 'ready';
    const dataSource = await this.connections.connected();
    if (this.isMigrated) {
      await dataSource.query('SELECT 1');
      return 'ready';
    }
    const pending = await pendingMigrations(dataSource, migrationNames(this.application));
    this.isMigrated = pending.length === 0;
    return this.isMigrated ? 'ready' : undefined;
  }
}

/** Which health check a request is for: that of `/health/live` or of `/health/ready`. */
export function healthCheckOf({ url = '' }: IncomingMessage): 'live' | 'ready' | undefined {
  return /^\/health\/(live|ready)(?:\?|$)/.exec(url)?.[1] as 'live' | 'ready' | undefined;
}

/**
 * Responds to a health check: with the reason why the service is not ready, if there is one.
 *
 * @param primary why the server is not a writable primary
 */
export function answerHealth(response: ServerResponse, reason?: string, primary?: string): void {
  const status = reason ? 'unavailable' : 'ok';
  const body = JSON.stringify({ status, reason, primary });
  answer(response, reason ? 503 : 200, 'application/json; charset=utf-8', body);
}

/** Writes a response to an operator, without the envelope. */
function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  response.end(body);
}
