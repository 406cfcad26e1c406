import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Pool } from 'pg';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { primaryPool } from '../private-api/database.js';
import type { EnvelopedExpressAdapter } from '../http/server/enveloped-express.adapter.js';
import { errors } from '../http/errors.js';
import type { Observation } from '../http/observation.js';
import { ChangesReader } from '../list/changes/changes-reader.js';
import { PageCache } from '../list/serving/page-server.js';
import { StreamLimit } from '../list/serving/read-limit.js';
import { Replicas } from '../database/replicas.js';
import { Maintenance } from '../list/maintenance.js';
import { FOLD_SIZE } from '../tally/maintain.js';
import { VERSION } from '../package.js';

/** The metrics for Prometheus. No label has a value that a client can choose. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  private readonly durations = new Histogram({
    name: 'catalogue_request_duration_seconds',
    help: 'Time from the head of a request until its response was delivered, or its connection closed, by route, status, and the plan of a page that was read',
    labelNames: ['route', 'status', 'plan'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });
  private readonly rows = new Counter({
    name: 'catalogue_rows_served_total',
    help: 'Objects in answers',
    registers: [this.registry],
  });
  private readonly errorResponses = new Counter({
    name: 'catalogue_refusals_total',
    help: 'Error responses, by errcode',
    labelNames: ['errcode'],
    registers: [this.registry],
  });

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly replicas: Replicas,
    private readonly maintenance: Maintenance,
    private readonly host: HttpAdapterHost<EnvelopedExpressAdapter>,
    private readonly streams: StreamLimit,
    private readonly pages: PageCache,
    private readonly changes: ChangesReader,
  ) {
    collectDefaultMetrics({ register: this.registry });
    // A series that begins with its first error has no increase then, and an alert would miss that error.
    for (const { errcode } of Object.values(errors)) {
      this.errorResponses.inc({ errcode: String(errcode) }, 0);
    }
    new Gauge({
      name: 'catalogue_build_info',
      help: '1, with the versions of the service and of Node.js as labels',
      labelNames: ['version', 'node'],
      registers: [this.registry],
    }).set({ version: VERSION, node: process.versions.node }, 1);
    this.addDatabase();
    this.addMaintenance();
    this.addRequests();
    this.addPages();
  }

  private addDatabase(): void {
    const { replicas } = this;
    const servers = [{ name: 'primary', pool: primaryPool(this.dataSource) }, ...replicas.all];
    const ofPools = (read: (pool: Pool) => number) => () =>
      servers.map(({ name, pool }) => [name, read(pool)] as const);
    this.gauge(
      'catalogue_pool_connections',
      'Connections to the database, by server: `primary`, or a replica',
      ofPools((pool) => pool.totalCount),
      'server',
    );
    this.gauge(
      'catalogue_pool_connections_in_use',
      'Connections that a query is under way on, by server',
      ofPools((pool) => pool.totalCount - pool.idleCount),
      'server',
    );
    this.gauge(
      'catalogue_pool_waiting',
      'Queries that wait for a connection, by server',
      ofPools((pool) => pool.waitingCount),
      'server',
    );
    this.gauge(
      'catalogue_replica_lag_seconds',
      'How far a replica may be behind the primary; infinite while it is away',
      () => replicas.all.map(({ name, lag }) => [name, lag / 1000]),
      'replica',
    );
  }

  private addMaintenance(): void {
    const { maintenance } = this;
    this.counter(
      'catalogue_tally_rounds_total',
      'Rounds of tally maintenance by this instance',
      () => maintenance.rounds.done,
    );
    this.counter(
      'catalogue_tally_rounds_failed_total',
      'Rounds that failed, as with no database; the other counter leaves them out',
      () => maintenance.rounds.failed,
    );
    this.gauge(
      'catalogue_tally_deltas_waiting',
      `Deltas that wait to be folded, by resource; at most ${FOLD_SIZE.toLocaleString('en')} of each table are counted`,
      () => maintenance.deltas,
      'resource',
    );
    this.gauge(
      'catalogue_watermark_age_seconds',
      'How far X-Updated-Until is behind the clock of the database; NaN until it is known',
      () => maintenance.watermarkAge / 1000,
    );
    this.gauge(
      'catalogue_maintenance_failing',
      'Tasks of maintenance that fail at present, by resource',
      () => maintenance.failures,
      'resource',
    );
  }

  private addRequests(): void {
    const { httpAdapter: adapter } = this.host;
    this.gauge(
      'catalogue_requests_in_work',
      'Requests whose response has not been handed to its connection yet',
      () => adapter.admission.size,
    );
    this.gauge(
      'catalogue_requests_waiting',
      'Requests that wait for a change, which are not in work',
      () => adapter.waiting.size,
    );
    this.gauge(
      'catalogue_copy_age_seconds',
      'Seconds since this instance has last answered a request of a client for changes; of several instances, the least counts',
      () =>
        Array.from(this.changes.answered.entries(), ([client, at]): [string, number] => [
          client,
          (performance.now() - at) / 1000,
        ]),
      'client',
    );
    this.gauge(
      'catalogue_undelivered_bytes',
      'Bytes of responses that their readers have not taken yet',
      () => adapter.http.deliveries.bytes,
    );
    this.gauge(
      'catalogue_streams_open',
      'Lists that are being sent whole',
      () => this.streams.size,
    );
    this.gauge('catalogue_connections_open', 'Open connections to `PORT`', () =>
      adapter.connectionCount(),
    );
    this.gauge(
      'catalogue_connections_limit',
      'Connections to `PORT` beyond which a further one is closed at once',
      () => adapter.maxConnections,
    );
  }

  private addPages(): void {
    const { pages } = this;
    this.counter(
      'catalogue_page_cache_hits_total',
      'Pages that were sent from memory',
      () => pages.requests.hits,
    );
    this.counter(
      'catalogue_page_cache_misses_total',
      'Pages that had to be read, since memory had none of the current version',
      () => pages.requests.misses,
    );
    this.gauge(
      'catalogue_page_cache_bytes',
      'Estimated memory of the page cache',
      () => pages.bytes,
    );
  }

  /** Counts a finished request. */
  observe({ route, status, errcode, milliseconds, rows, plan }: Observation): void {
    const labels = { route: route ?? 'none', status: String(status), plan: plan?.name ?? 'none' };
    this.durations.observe(labels, milliseconds / 1000);
    if (rows > 0) this.rows.inc(rows);
    if (errcode !== 0) this.errorResponses.inc({ errcode: String(errcode) });
  }

  private counter(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** @param read its value, or each value of a label with its own */
  private gauge(
    name: string,
    help: string,
    read: () => number | Promise<number> | Iterable<readonly [string, number]>,
    label?: string,
  ): void {
    new Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [this.registry],
      async collect() {
        const values = await read();
        if (typeof values === 'number') this.set(values);
        else for (const [of, value] of values) this.set({ [String(label)]: of }, value);
      },
    });
  }
}
