import { type ClientBase, Pool } from 'pg';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../settings/settings.js';
import { DatabaseClient, poolOptions } from './database-client.js';
import {
  databaseFailure,
  driverErrorOf,
  isUnanswered,
  PrimarySilentError,
} from './database-failure.js';
import type { Primary } from './primary.js';

/** Milliseconds that a server has to report its position. */
const PROBE_TIMEOUT = 2000;

/** The position of a server in the write-ahead log. */
interface LogPosition {
  /** Identifies the cluster, the database and its history: see `functions/watermark.sql`. */
  readonly history: string;
  /** Position in the write-ahead log: bytes since the cluster was initialised. */
  readonly bytes: bigint;
}

/**
 * A pool of one connection for position queries, independent of the load on other pools.
 *
 * @param onConnect called with each new connection; it may refuse it by throwing
 */
export function createProbe(url: string, onConnect?: (client: ClientBase) => void): Pool {
  const options = {
    ...poolOptions(url, { poolSize: 1, onConnect }),
    connectionTimeoutMillis: PROBE_TIMEOUT,
    responseTimeout: PROBE_TIMEOUT,
  };
  const probe = new Pool(options);
  // Emitted for idle connections. The next query fails by itself.
  probe.on('error', () => undefined);
  return probe;
}

/**
 * @param lsn SQL expression of the server's log sequence number
 * @returns `undefined` if `lsn` is null on the server, and after a failover until a new history has begun
 */
async function queryPosition(probe: Pool, lsn: string): Promise<LogPosition | undefined> {
  const { rows } = await probe.query<{ history: string; bytes: string | null }>(
    `SELECT concat_ws('/', system_identifier, database, history) AS history, (${lsn} - '0/0')::text AS bytes
     FROM pg_control_system(), newest_watermark() WHERE ended IS NULL`,
  );
  const [row] = rows;
  return row?.bytes ? { history: row.history, bytes: BigInt(row.bytes) } : undefined;
}

/** A streaming replica of the database, and up to when it has replayed the primary's commits. */
export class Replica {
  readonly pool: Pool;
  /** `performance.now()` value; every commit before it has been replayed here. */
  asOf = -Infinity;
  /** `performance.now()` value at which this object was created. */
  readonly createdAt = performance.now();
  /** Why the last check excluded the replica; `undefined` if it did not. */
  problem: string | undefined;
  /** `performance.now()` value; until then the replica gets no queries, whatever its position. */
  suspendedUntil = -Infinity;
  private readonly probe: Pool;
  /** The connections of both pools. */
  private readonly connections = new Set<ClientBase>();

  /** Host, port and database, without credentials, for logs and metrics. */
  readonly name: string;

  constructor(url: string, limits: { poolSize: number; queryTimeout: number }) {
    const { host, pathname } = new URL(url);
    this.name = host + pathname;
    this.probe = createProbe(url);
    this.pool = new Pool(poolOptions(url, limits));
    this.pool.on('error', () => undefined);
    for (const pool of [this.probe, this.pool]) {
      pool.on('connect', (connection) => this.connections.add(connection));
      pool.on('remove', (connection) => this.connections.delete(connection));
    }
  }

  /** Milliseconds that it may be behind the primary; `Infinity` while unavailable. */
  get lag(): number {
    return performance.now() - this.asOf;
  }

  /** Number of queries that run on the replica or wait for a connection to it. */
  get load(): number {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return totalCount - idleCount + waitingCount;
  }

  /**
   * The position up to which the replica has replayed the log.
   *
   * @throws Error if the server does not respond or is not a streaming replica
   */
  async position(): Promise<LogPosition> {
    const replayed = 'CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END';
    const position = await queryPosition(this.probe, replayed);
    if (!position) throw new Error('it is not a streaming replica');
    return position;
  }

  /**
   * Excludes the replica until a check succeeds. Queries in progress fail at once. The next check opens a connection:
   * an open one stays in a database that was renamed, as when a restored one has taken its place.
   */
  exclude(problem: string): void {
    this.asOf = -Infinity;
    this.problem = problem;
    for (const connection of this.connections) {
      if (connection instanceof DatabaseClient) connection.closeNow();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.probe.end(), this.pool.end()]);
  }
}

/** Milliseconds between two checks of the servers. */
const CHECK_PERIOD = 250;
/**
 * Milliseconds that a replica may be behind the primary to stand in for it: it may lack the revocation of a token, or the
 * disabling of a client, for so long.
 */
const STAND_IN_LAG = 300_000;
/** Milliseconds for which a replica gets no queries after an error of its own configuration. */
const SUSPENSION = 60_000;

type ReplicaSettings = Pick<
  Settings,
  'replicaUrls' | 'maxReplicaLag' | 'poolSize' | 'queryTimeout'
>;

/** A position that the primary had reached by a `performance.now()` value. */
interface Milestone extends LogPosition {
  readonly at: number;
}

/**
 * The streaming replicas of a database. A replica gets queries while it has replayed every commit that is older than
 * `maxReplicaLag`. The service records the log position of the primary with a time of its own clock, and compares that
 * of each replica with it. So no clocks of two machines are compared, and a replica without a primary falls behind.
 */
export class Replicas implements OnApplicationShutdown {
  readonly all: readonly Replica[];
  private readonly logger = new Logger(Replicas.name);
  /** Milliseconds that a replica may be behind the primary. */
  private readonly maxLag: number;
  private readonly probe: Pool;
  /** In the order of their times. */
  private milestones: Milestone[] = [];
  /** Whether the latest check of the primary got no response. */
  private isPrimarySilent = false;
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;

  constructor(
    readonly primary: Primary,
    settings: ReplicaSettings,
  ) {
    const { replicaUrls } = settings;
    this.maxLag = settings.maxReplicaLag;
    this.probe = createProbe(primary.url, primary.accept);
    primary.watch(this.probe);
    this.all = replicaUrls.map((url) => new Replica(url, settings));
    this.running = replicaUrls.length > 0 ? this.run() : Promise.resolve();
  }

  /** The replicas that get queries now. */
  get available(): Replica[] {
    const now = performance.now();
    return this.all.filter(
      ({ lag, suspendedUntil }) => lag <= this.maxLag && now >= suspendedUntil,
    );
  }

  /** The replicas that answer for a primary that cannot be reached. */
  get standIns(): Replica[] {
    return this.available.filter(({ lag }) => lag <= STAND_IN_LAG);
  }

  /**
   * Runs work that only reads on the available replica with the lowest load. If that fails in a way
   * that another server may not, runs it on the next one, and finally on the primary.
   *
   * @param among the replicas that may be read; it is called again before each try
   */
  async read<T>(
    primary: Pool,
    work: (pool: Pool) => Promise<T>,
    among = () => this.available,
  ): Promise<T> {
    const tried = new Set<Replica>();
    for (;;) {
      const [replica] = among()
        .filter((candidate) => !tried.has(candidate))
        .sort((one, other) => one.load - other.load);
      if (!replica) return this.onPrimary(() => work(primary));
      tried.add(replica);
      try {
        return await work(replica.pool);
      } catch (error) {
        if (!this.shouldRetryElsewhere(replica, error)) throw error;
      }
    }
  }

  /**
   * Runs work on the primary.
   *
   * @throws PrimarySilentError while the primary gives no response to the checks: at once, and for work
   * that got no response either
   * @throws NotPrimaryError while there is no connection to the primary, but to another server
   */
  async onPrimary<T>(work: () => Promise<T>): Promise<T> {
    this.primary.requireConnections();
    if (this.isPrimarySilent) throw new PrimarySilentError();
    try {
      return await work();
    } catch (error) {
      // Not the value from before the work.
      const isSilent = (): boolean => this.isPrimarySilent;
      throw isUnanswered(error) && isSilent() ? new PrimarySilentError() : error;
    }
  }

  /** A replica that is unreachable, or lacks a privilege or a table, gets no queries for some time. */
  private shouldRetryElsewhere(replica: Replica, error: unknown): boolean {
    const { code, message } = driverErrorOf(error);
    // https://www.postgresql.org/docs/current/errcodes-appendix.html: serialization_failure. On a
    // replica it means that replay removed a row version that the query needs.
    if (code === '40001' || isUnanswered(error)) return true;
    const failure = databaseFailure(error);
    if (failure === 'unreachable') {
      // Excluded until the next check, so that further requests do not fail on it first.
      replica.asOf = -Infinity;
      return true;
    }
    // Class 42: insufficient privilege, undefined table.
    if (failure || !code?.startsWith('42')) return false;
    replica.suspendedUntil = performance.now() + SUSPENSION;
    this.logger.warn(`The replica ${replica.name} is left out for a minute: ${message}`);
    return true;
  }

  /** Called by Nest after every request has been answered. */
  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await Promise.all([this.probe.end(), ...this.all.map((replica) => replica.close())]);
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await this.recordMilestone();
      await Promise.all(this.all.map((replica) => this.check(replica)));
      await sleep(CHECK_PERIOD, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Records the position of the primary. While that fails, every replica falls behind. */
  private async recordMilestone(): Promise<void> {
    // Read before the query: every commit before `at` is at or before the returned position.
    const at = performance.now();
    try {
      const position = await queryPosition(this.probe, 'pg_current_wal_lsn()');
      if (position) {
        // After a failover, only replicas of the new primary count.
        this.milestones = this.milestones.filter(({ history }) => history === position.history);
        this.milestones.push({ at, ...position });
      }
      this.isPrimarySilent = false;
    } catch (error) {
      // Of the query, or of the connection for it.
      this.isPrimarySilent = driverErrorOf(error).message.includes('timeout');
      return;
    }
    const oldest = this.milestones.findIndex((milestone) => at - milestone.at <= this.maxLag);
    this.milestones = this.milestones.slice(oldest);
  }

  private async check(replica: Replica): Promise<void> {
    const { problem } = replica;
    try {
      const { history, bytes } = await replica.position();
      if (this.milestones[0] && this.milestones[0].history !== history) {
        throw new Error('it is a replica of another server, database or history');
      }
      const reached = this.milestones.findLast((milestone) => milestone.bytes <= bytes);
      replica.asOf = reached?.at ?? -Infinity;
      // A new replica may not have reached the first milestone yet.
      const isBehind = performance.now() - Math.max(replica.asOf, replica.createdAt) > this.maxLag;
      replica.problem = isBehind ? `it is more than ${this.maxLag} ms behind` : undefined;
    } catch (error) {
      const { code, message } = driverErrorOf(error);
      replica.exclude(code ?? message);
    }
    // Logged once, not at every check.
    if (replica.problem !== undefined && problem === undefined) {
      this.logger.warn(`The replica ${replica.name} is left out: ${replica.problem}`);
    } else if (replica.problem === undefined && problem !== undefined) {
      this.logger.log(`The replica ${replica.name} is back`);
    }
  }
}
