import type {
  CustomTypesConfig,
  Pool,
  PoolClient,
  QueryArrayConfig,
  QueryConfig,
  QueryResultRow,
} from 'pg';
import type { DataSource } from 'typeorm';
import { primaryPool, processIdOf, textRows } from '../private-api/database.js';
import { databaseFailure, PoolOverloadedError } from './database-failure.js';
import type { Replicas } from './replicas.js';
import type { Statement, TextRow } from './statement.js';
import type { DatabaseClient } from './database-client.js';

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

/** Leaves values in PostgreSQL's text format. */
const AS_TEXT: CustomTypesConfig = { getTypeParser: () => (text: unknown) => text };

/** A connection in a read-only REPEATABLE READ transaction: all statements see the same data. Must be closed. */
export class Snapshot {
  private running = false;
  private isBroken = false;

  private constructor(
    private readonly pool: Pool,
    private readonly client: PoolClient,
    private readonly signal: AbortSignal | undefined,
  ) {
    client.on('error', this.markBroken);
    signal?.addEventListener('abort', this.cancel);
  }

  /**
   * Takes a connection and begins the transaction.
   *
   * @param tables what it will read, in SQL. Their locks come before the snapshot: to one that is older than TRUNCATE, or than
   * ALTER TABLE that rewrites a table, the table is empty. In one order, so that two that lock them do not deadlock
   * @param signal once aborted, the statement in progress is cancelled and no other one begins
   */
  static async open(
    pool: Pool,
    tables: readonly string[] = [],
    signal?: AbortSignal,
  ): Promise<Snapshot> {
    const snapshot = new Snapshot(pool, await pool.connect(), signal);
    try {
      await snapshot.rows('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      // No snapshot is taken by it.
      const locked = [...new Set(tables)].sort().join(', ');
      if (locked !== '') await snapshot.rows(`LOCK TABLE ${locked} IN ACCESS SHARE MODE`);
    } catch (error) {
      await snapshot.close();
      throw error;
    }
    return snapshot;
  }

  /** The rows of a statement, with values as text. @throws the reason of the signal if the signal is aborted */
  async rows(text: string, values: readonly unknown[] = []): Promise<(string | null)[][]> {
    const config: QueryArrayConfig = { text, values: [...values], rowMode: 'array' };
    return this.run<(string | null)[]>(config);
  }

  /** The rows of a statement by the names of its columns, as of `ReadPool.rows`; throws as `rows` does. */
  async objects<Row extends TextRow<Row>>(
    { text }: Statement,
    values: readonly unknown[],
  ): Promise<Row[]> {
    return this.run<Row>({ text, values: [...values] });
  }

  private async run<Row extends QueryResultRow>(config: QueryConfig): Promise<Row[]> {
    this.signal?.throwIfAborted();
    this.running = true;
    try {
      const { rows } = await this.client.query<Row>({ ...config, types: AS_TEXT });
      return rows;
    } catch (error) {
      // A connection that was lost between two statements has no more to say than that.
      const { loss = error } = this.client as Pick<Partial<DatabaseClient>, 'loss'>;
      throw loss;
    } finally {
      this.running = false;
    }
  }

  async close(): Promise<void> {
    this.signal?.removeEventListener('abort', this.cancel);
    if (!this.isBroken) await this.client.query('ROLLBACK').catch(this.markBroken);
    this.client.off('error', this.markBroken);
    this.client.release(this.isBroken);
  }

  private readonly markBroken = (): void => {
    this.isBroken = true;
  };

  private readonly cancel = (): void => {
    if (!this.running) return;
    // The cancellation may arrive after the statement has ended. The connection is not reused, so
    // that it cannot hit another statement.
    this.isBroken = true;
    const processID = processIdOf(this.client);
    this.pool.query('SELECT pg_cancel_backend($1)', [processID]).catch(() => undefined);
  };
}
