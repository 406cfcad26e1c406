import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { type FieldDef, type Pool, Query } from 'pg';
import { DataSource } from 'typeorm';
import { databaseFailure, PoolOverloadedError } from './database-failure.js';
import { Replicas } from './replicas.js';
import { Snapshot } from './snapshot.js';
import type { Statement, TextRow } from './statement.js';

/** Maximum number of concurrent requests for each database connection. More would only wait. */
export const REQUESTS_PER_CONNECTION = 20;

/** The pool of connections to the primary, which TypeORM manages. */
export function primaryPool(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}

/** Waiting queries count even if their client has disconnected. */
async function unlessOverloaded<T>(pool: Pool, work: (pool: Pool) => Promise<T>): Promise<T> {
  if (pool.waitingCount >= REQUESTS_PER_CONNECTION * pool.options.max) {
    throw new PoolOverloadedError();
  }
  return work(pool);
}

/**
 * The pool on which requests read: of an available replica, otherwise of the primary. Each method throws
 * `PoolOverloadedError` if too many queries already wait for a connection.
 */
@Injectable()
export class ReadPool {
  /** Which servers it reads from. Equal for all pools of a kind. */
  readonly source: 'any' | 'primary' | 'primary first' = 'any';
  private readonly primary: Pool;

  constructor(
    @InjectDataSource() readonly dataSource: DataSource,
    private readonly replicas: Replicas,
  ) {
    this.primary = primaryPool(dataSource);
  }

  /** A pool that reads on the primary alone. */
  get ofPrimary(): ReadPool {
    return new PrimaryPool(this.dataSource, this.replicas);
  }

  /** A pool that reads on the primary, and on a replica while the primary cannot be reached. */
  get primaryFirst(): ReadPool {
    return new PrimaryFirstPool(this.dataSource, this.replicas);
  }

  /** Runs work that only reads. It may run again on another server. */
  read<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    return this.readAnywhere(work);
  }

  /** Runs work that reads from one snapshot. */
  readSnapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return this.read(async (pool) => {
      const snapshot = await Snapshot.open(pool);
      try {
        return await work(snapshot);
      } finally {
        await snapshot.close();
      }
    });
  }

  /** Runs work that must not read from a replica. */
  onPrimary<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    return this.replicas.onPrimary(() => unlessOverloaded(this.primary, work));
  }

  /** Runs work that only reads on the primary, and on a replica while the primary cannot be reached. */
  async preferPrimary<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    try {
      return await this.onPrimary(work);
    } catch (error) {
      if (databaseFailure(error) !== 'unreachable' || this.replicas.available.length === 0) {
        throw error;
      }
      return this.readAnywhere(work);
    }
  }

  /**
   * The rows of a statement that only reads, with values as text. Bypasses TypeORM: its query runner
   * does not support named statements, and its overhead exceeds the cost of a short query.
   */
  rows<Row extends TextRow<Row>>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return this.read(async (pool) => {
      const query = new TextQuery<Row>(statement, values);
      // Unlike a client, whose types it shares, a pool returns a promise for any query.
      await (pool.query(query) as unknown as Promise<unknown>);
      return query.found;
    });
  }

  private readAnywhere<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    return this.replicas.read(this.primary, (pool) => unlessOverloaded(pool, work));
  }
}

class PrimaryPool extends ReadPool {
  override readonly source = 'primary';

  override read<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    return this.onPrimary(work);
  }
}

class PrimaryFirstPool extends ReadPool {
  override readonly source = 'primary first';

  override read<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    return this.preferPrimary(work);
  }
}

/**
 * A query that leaves all values as text. It collects the rows itself: for a short query, the result
 * that pg builds, with a parser for each column, costs more than the query.
 */
class TextQuery<Row extends TextRow<Row>> extends Query {
  readonly found: Row[] = [];
  /** The name under which the connection prepares the statement. */
  readonly name: string | undefined;
  private columns: readonly string[] = [];

  constructor({ text, digest, prepared }: Statement, values: readonly unknown[]) {
    // A text and not a configuration object, which pg would clone.
    super(text, values as never);
    this.name = prepared ? digest : undefined;
  }

  /** Called by pg before the first row. */
  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.columns = fields.map(({ name }) => name);
  }

  /** Called by pg for each row. */
  handleDataRow({ fields: values }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, string | null> = {};
    this.columns.forEach((name, index) => {
      row[name] = values[index] ?? null;
    });
    this.found.push(row as Row);
  }
}
