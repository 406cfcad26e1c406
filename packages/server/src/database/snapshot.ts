import type {
  CustomTypesConfig,
  Pool,
  PoolClient,
  QueryArrayConfig,
  QueryConfig,
  QueryResultRow,
} from 'pg';
import { processIdOf } from '../private-api/database.js';
import type { DatabaseClient } from './database-client.js';
import type { Statement, TextRow } from './statement.js';

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

  /**
   * The rows of a statement, with values as text.
   *
   * @throws the reason of the signal if the signal is aborted
   */
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
