import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { primaryPool, textRows } from '../private-api/database.js';
import { databaseFailure, PoolOverloadedError } from './database-failure.js';
import type { Replicas } from './replicas.js';
import { Snapshot } from './snapshot.js';
import type { Statement, TextRow } from './statement.js';

/** Maximum number of concurrent requests for each database connection. More would only wait. */
const REQUESTS_PER_CONNECTION = 20;

/** Waiting queries count even if their client has disconnected. */
async function unlessOverloaded<T>(pool: Pool, work: (pool: Pool) => Promise<T>): Promise<T> {
  if (pool.waitingCount >= REQUESTS_PER_CONNECTION * pool.options.max) {
    throw new PoolOverloadedError();
  }
  return work(pool);
}

/** The servers from which a pool reads; `primary first`: from a replica only while the primary cannot be reached. */
type Source = 'any' | 'primary' | 'primary first';

/**
 * The pool on which requests read: of an available replica, otherwise of the primary. Each method throws
 * `PoolOverloadedError` if too many queries already wait for a connection.
 */
export class ReadPool {
  private readonly primary: Pool;

  constructor(
    readonly dataSource: DataSource,
    private readonly replicas: Replicas,
    readonly source: Source = 'any',
  ) {
    this.primary = primaryPool(dataSource);
  }

  /** A pool that reads from these servers. */
  of(source: Source): ReadPool {
    return new ReadPool(this.dataSource, this.replicas, source);
  }

  /**
   * Runs work that only reads. It may run again on another server, also when it has succeeded on a former primary.
   *
   * @param discard as of `Primary.read`
   */
  read<T>(work: (pool: Pool) => Promise<T>, discard?: (result: T) => Promise<void>): Promise<T> {
    return this.replicas.primary.read(() => this.readOnce(work), discard);
  }

  private async readOnce<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    const { primary, replicas, source } = this;
    const bounded = (pool: Pool): Promise<T> => unlessOverloaded(pool, work);
    try {
      if (source !== 'any') return await replicas.onPrimary(() => bounded(primary));
    } catch (error) {
      const isUnreachable = databaseFailure(error) === 'unreachable';
      if (source === 'primary' || !isUnreachable || replicas.standIns.length === 0) throw error;
      return replicas.read(primary, bounded, () => replicas.standIns);
    }
    return replicas.read(primary, bounded);
  }

  /** Runs work as `read`, in one snapshot of some tables. */
  readSnapshot<T>(
    work: (snapshot: Snapshot) => Promise<T>,
    tables: readonly string[] = [],
  ): Promise<T> {
    return this.read(async (pool) => {
      const snapshot = await Snapshot.open(pool, tables);
      try {
        return await work(snapshot);
      } finally {
        await snapshot.close();
      }
    });
  }

  /**
   * The rows of a statement that only reads, with values as text. Bypasses TypeORM: its query runner
   * does not support named statements, and its overhead exceeds the cost of a short query.
   */
  rows<Row extends TextRow<Row>>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { text, digest, prepared } = statement;
    const name = prepared ? digest : undefined;
    return this.read((pool) => textRows<Row>(pool, { text, name }, values));
  }
}
