import { type ClientBase, Pool } from 'pg';
import { DatabaseClient } from './database-client.js';
import { poolOptions } from './options.js';

/** Milliseconds that a server has to report its position. */
const PROBE_TIMEOUT = 2000;

/** The position of a server in the write-ahead log. */
export interface LogPosition {
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
export async function queryPosition(probe: Pool, lsn: string): Promise<LogPosition | undefined> {
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
