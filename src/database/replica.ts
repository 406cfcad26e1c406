import { type ClientBase, Pool } from 'pg';
import { ImpatientClient, poolOptions } from './options.js';

/** Milliseconds that a server has to say how far it is. */
const PATIENCE = 2000;

/** Where a server stands. */
export interface Position {
  /** The cluster, the database in it, and the timeline, of which a failover begins another. */
  readonly history: string;
  /** How far it is in the write-ahead log: bytes since the cluster was made. */
  readonly bytes: bigint;
}

/** A pool of one connection on which a server is asked how far it is, however busy its others are. */
export function probeOf(url: string): Pool {
  const options = poolOptions(url, { poolSize: 1 });
  const probe = new Pool({
    ...options,
    connectionTimeoutMillis: PATIENCE,
    query_timeout: PATIENCE,
  });
  // Of an idle connection; the next question finds out by itself.
  probe.on('error', () => undefined);
  return probe;
}

/**
 * Asks a server where it stands.
 *
 * @param location the SQL expression of its place in the log, null where it has none
 */
export async function positionOf(probe: Pool, location: string): Promise<Position | undefined> {
  const { rows } = await probe.query<{ history: string; bytes: string | null }>(
    `SELECT concat_ws('/', system_identifier, pg_database.oid, ${TIMELINE}) AS history,
       (${location} - '0/0')::text AS bytes
     FROM pg_control_system(), pg_database WHERE datname = current_database()`,
  );
  const [row] = rows;
  return row?.bytes ? { history: row.history, bytes: BigInt(row.bytes) } : undefined;
}

/**
 * The SQL expression of a server's timeline. What a replica says is as of its last restart point: it
 * is not taken for one of a new primary before that, some minutes after a failover.
 */
const TIMELINE = `CASE WHEN pg_is_in_recovery() THEN
    (SELECT greatest(timeline_id, min_recovery_end_timeline)
     FROM pg_control_checkpoint(), pg_control_recovery())
  ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer END`;

/** A streaming replica of the database, and how well it is known to follow. */
export class Replica {
  readonly pool: Pool;
  /** A moment of the monotonic clock up to which it has every commit. */
  asOf = -Infinity;
  /** A moment of that clock at which it was new to us. */
  readonly since = performance.now();
  /** Why it was left out when it was looked at last. */
  problem: string | undefined;
  /** A moment of that clock until which it is not asked, whatever its position. */
  suspendedUntil = -Infinity;
  private readonly probe: Pool;
  private readonly connections = new Set<ClientBase>();

  /** @param name tells it from the others, without its password */
  constructor(
    readonly name: string,
    url: string,
    limits: { poolSize: number; queryTimeout: number },
  ) {
    this.probe = probeOf(url);
    this.pool = new Pool(poolOptions(url, limits));
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (connection) => this.connections.add(connection));
    this.pool.on('remove', (connection) => this.connections.delete(connection));
  }

  /** Queries that it answers or that wait for it. */
  get load(): number {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return totalCount - idleCount + waitingCount;
  }

  /**
   * How far it has come.
   * @throws Error if it does not say, or is no replica
   */
  async position(): Promise<Position> {
    const replayed = 'CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END';
    const position = await positionOf(this.probe, replayed);
    if (!position) throw new Error('it is not a streaming replica');
    return position;
  }

  /** Leaves it out until it is found well; what it was asked and does not answer ends now. */
  leaveOut(problem: string): void {
    this.asOf = -Infinity;
    this.problem = problem;
    for (const connection of this.connections) {
      if (connection instanceof ImpatientClient) connection.abandon();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.probe.end(), this.pool.end()]);
  }
}
