import type { Pool, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import { PoolOverloadedError } from './database-failure.js';
import type { Replicas } from './replicas.js';
import type { Statement } from './statement.js';

/** Requests in work for each connection to the database. Any further request would only wait. */
export const REQUESTS_PER_CONNECTION = 20;

/** The connections to the primary, which TypeORM keeps. */
export function primaryPool(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}

/**
 * Does some work on a pool, unless too many queries wait for it already. Queries of clients that
 * went away wait there as well.
 *
 * @throws PoolOverloadedError
 */
export async function unlessOverloaded<T>(
  pool: Pool,
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  if (pool.waitingCount >= REQUESTS_PER_CONNECTION * pool.options.max) {
    throw new PoolOverloadedError();
  }
  return work(pool);
}

/** Where requests read: on a replica if one is available, else on the primary. */
export class ReadPool {
  private readonly primary: Pool;

  /** @param replicas `undefined` if there are none */
  constructor(
    dataSource: DataSource,
    private readonly replicas: Replicas | undefined,
  ) {
    this.primary = primaryPool(dataSource);
  }

  /**
   * Does work that only reads. It may be done again on another server.
   *
   * @throws PoolOverloadedError
   */
  read<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    const ask = (pool: Pool) => unlessOverloaded(pool, work);
    return this.replicas ? this.replicas.read(this.primary, ask) : ask(this.primary);
  }

  /**
   * The rows of a statement that only reads. It bypasses TypeORM, whose query runner takes no named
   * statements and costs more than a short query does.
   */
  async rows<Row extends object>(
    { text, digest, prepared }: Statement,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const query = { name: prepared ? digest : undefined, text, values: [...values] };
    const { rows }: QueryResult<Row> = await this.read((pool) => pool.query(query));
    return rows;
  }
}
