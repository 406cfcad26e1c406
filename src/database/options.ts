import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';

/** Milliseconds after which a connection that cannot be had is given up. */
const CONNECT_TIMEOUT = 5000;

/** How every part of the catalogue speaks to its database, embedded or not. */
export function databaseOptions(
  url: string,
  options: { poolSize?: number; queryTimeout?: number } = {},
): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    url,
    applicationName: 'catalogue',
    poolSize: options.poolSize ?? 2,
    connectTimeoutMS: CONNECT_TIMEOUT,
    extra: { statement_timeout: options.queryTimeout ?? 0 },
    installExtensions: false,
  };
}
