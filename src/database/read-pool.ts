import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { primaryPool, textRows } from '../private-api.js';
import { databaseFailure, PoolOverloadedError } from './database-failure.js';
import { Replicas } from './replicas.js';
import { Snapshot } from './snapshot.js';
import type { Statement, TextRow } from './statement.js';

/** Maximum number of concurrent requests for each database connection. More would only wait. */
export const REQUESTS_PER_CONNECTION = 20;

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
    const { text, digest, prepared } = statement;
    const name = prepared ? digest : undefined;
    return this.read((pool) => textRows<Row>(pool, { text, name }, values));
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
