import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { busy } from '../http/errors.js';
import type { Replicas } from './replicas.js';

/** Requests in work for each connection to the database: those beyond would only wait. */
export const REQUESTS_A_CONNECTION = 20;

const replicasOf = new WeakMap<DataSource, Replicas>();

/** From now on `reading` of a data source is done on its replicas. */
export function readFrom(dataSource: DataSource, replicas: Replicas): void {
  replicasOf.set(dataSource, replicas);
}

/** The connections to the database itself, which TypeORM keeps. */
export function primaryPool(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}

/**
 * Does something that only reads: on a replica, if there is one that is well. It may be done again
 * on another.
 */
export function reading<T>(dataSource: DataSource, work: (pool: Pool) => Promise<T>): Promise<T> {
  const primary = primaryPool(dataSource);
  const replicas = replicasOf.get(dataSource);
  const ask = (pool: Pool) => unlessBusy(pool, work);
  return replicas ? replicas.read(primary, ask) : ask(primary);
}

/**
 * Does something for a request on a pool that is not waited for too long already. The queries of
 * clients that went away wait like those of the others.
 */
export async function unlessBusy<T>(pool: Pool, work: (pool: Pool) => Promise<T>): Promise<T> {
  if (pool.waitingCount >= REQUESTS_A_CONNECTION * pool.options.max) throw busy();
  return work(pool);
}
