import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { Replicas } from './replicas.js';

const replicasOf = new WeakMap<DataSource, Replicas>();

/** From now on `reading` of a data source is done on its replicas. */
export function readFrom(dataSource: DataSource, replicas: Replicas): void {
  replicasOf.set(dataSource, replicas);
}

/** The connections to the database itself, which TypeORM keeps. */
export function primaryPool(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}

/** Does something that only reads: on a replica, if there is one that is well. It may be done again on another. */
export function reading<T>(dataSource: DataSource, work: (pool: Pool) => Promise<T>): Promise<T> {
  const primary = primaryPool(dataSource);
  const replicas = replicasOf.get(dataSource);
  return replicas ? replicas.read(primary, work) : work(primary);
}
