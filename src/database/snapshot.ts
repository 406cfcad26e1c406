import type { CustomTypesConfig, Pool, PoolClient } from 'pg';

/** Values as PostgreSQL writes them. */
const AS_TEXT: CustomTypesConfig = { getTypeParser: () => (text: unknown) => text };

/**
 * A connection of its own in a read-only transaction, all of whose statements see one snapshot.
 * Who opens one closes it.
 */
export class Snapshot {
  private running = false;
  private spoilt = false;

  private constructor(
    private readonly pool: Pool,
    private readonly client: PoolClient,
    private readonly signal: AbortSignal,
  ) {
    // Else the loss of a connection that waits for its reader would be the end of the process.
    client.on('error', this.spoil);
    signal.addEventListener('abort', this.cancel);
  }

  /** @param signal ends a statement under way, and lets none begin */
  static async open(pool: Pool, signal: AbortSignal): Promise<Snapshot> {
    const snapshot = new Snapshot(pool, await pool.connect(), signal);
    try {
      await snapshot.rows('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    } catch (error) {
      await snapshot.close();
      throw error;
    }
    return snapshot;
  }

  /** The rows of a statement, their values as text. */
  async rows(text: string, values: readonly unknown[] = []): Promise<(string | null)[][]> {
    this.signal.throwIfAborted();
    this.running = true;
    try {
      const { rows } = await this.client.query<(string | null)[]>({
        text,
        values: [...values],
        rowMode: 'array',
        types: AS_TEXT,
      });
      return rows;
    } finally {
      this.running = false;
    }
  }

  async close(): Promise<void> {
    this.signal.removeEventListener('abort', this.cancel);
    if (!this.spoilt) await this.client.query('ROLLBACK').catch(this.spoil);
    this.client.off('error', this.spoil);
    this.client.release(this.spoilt);
  }

  private readonly spoil = (): void => {
    this.spoilt = true;
  };

  private readonly cancel = (): void => {
    if (!this.running) return;
    // The cancellation may come after its statement: no other one shall meet it.
    this.spoilt = true;
    const { processID } = this.client as unknown as { processID: number };
    this.pool.query('SELECT pg_cancel_backend($1)', [processID]).catch(() => undefined);
  };
}
