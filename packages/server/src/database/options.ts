import type { Client, ClientBase, PoolConfig } from 'pg';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { type ClientOptions, DatabaseClient } from './database-client.js';

/** Milliseconds after which an attempt to connect fails. */
const CONNECT_TIMEOUT = 5000;
/**
 * Seconds after which a connection is closed when its work has ended. So none stays for longer with a server that its
 * address no longer leads to.
 */
const LIFETIME = 300;
/** Milliseconds after `statement_timeout` at which an unanswered query fails: the server is hung. */
const RESPONSE_MARGIN = 1000;

interface Limits {
  /** Maximum number of connections. Default: 2. */
  readonly poolSize?: number;
  /** Milliseconds that a query may run. Default: 0, no limit. */
  readonly queryTimeout?: number;
  /** Called with each new connection. If it throws, the connection is not used. */
  readonly onConnect?: (client: ClientBase) => void;
}

/** TypeORM options of every data source of the service, for an embedded or an external server. */
export function databaseOptions(url: string, limits: Limits = {}): PostgresDataSourceOptions {
  const { max, ...extra } = poolOptions(url, limits);
  return { type: 'postgres', url, poolSize: max, extra, installExtensions: false };
}

/** Options of `pg` for a pool or a connection, as every connection of the service has them. */
export function poolOptions(
  url: string,
  { poolSize = 2, queryTimeout = 0, onConnect }: Limits = {},
): PoolConfig & ClientOptions & { Client: typeof Client } {
  return {
    connectionString: url,
    application_name: 'catalogue',
    max: poolSize,
    maxLifetimeSeconds: LIFETIME,
    onConnect,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    Client: DatabaseClient,
    keepAlive: true,
    statementTimeout: queryTimeout,
    responseTimeout: queryTimeout && queryTimeout + RESPONSE_MARGIN,
  };
}
