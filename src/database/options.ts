import { Client, type ClientConfig, type PoolConfig } from 'pg';
import pgpass, { type Server } from 'pgpass';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { CommandError } from '../command-error.js';

/** Milliseconds after which a connection that cannot be had is given up. */
const CONNECT_TIMEOUT = 5000;
/** Milliseconds past a query's own time after which its server is taken to have fallen silent. */
const SILENCE = 1000;

interface Limits {
  readonly poolSize?: number;
  /** Milliseconds that a query may run; 0: as long as it must. */
  readonly queryTimeout?: number;
}

/** How every part of the catalogue speaks to its database, embedded or not. */
export function databaseOptions(url: string, limits: Limits = {}): PostgresDataSourceOptions {
  const { max, ...extra } = poolOptions(url, limits);
  return { type: 'postgres', url, poolSize: max, extra, installExtensions: false };
}

/** The same for a pool of connections beside TypeORM's. */
export function poolOptions(
  url: string,
  { poolSize = 2, queryTimeout = 0 }: Limits = {},
): PoolConfig & { Client: typeof Client } {
  return {
    connectionString: url,
    application_name: 'catalogue',
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    Client: ImpatientClient,
    keepAlive: true,
    // No query here is worth compiling, whatever the planner expects of values it does not know.
    options: '-c jit=off',
    statement_timeout: queryTimeout,
    query_timeout: queryTimeout && queryTimeout + SILENCE,
  };
}

/**
 * A connection that is given up with a query that it does not answer. The server would have ended
 * the query at its time, so it is the connection that leads nowhere, and the next query would wait
 * behind this one.
 */
export class ImpatientClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    // pg looks into the file by itself, but says each time that it will not for long.
    Object.assign(this, { password: this.password ?? this.passwordFromFile });
  }

  private readonly send = super.query.bind(this) as (...args: unknown[]) => unknown;

  override query = ((...args: unknown[]): unknown => {
    const result = this.send(...args);
    if (result instanceof Promise) result.catch(this.giveUp);
    return result;
  }) as Client['query'];

  /** Ends it as it stands; what it was asked and has not answered fails now. */
  abandon(): void {
    this.connection.stream.destroy();
  }

  /** For a URL without one: as libpq has it, https://www.postgresql.org/docs/current/libpq-pgpass.html */
  private readonly passwordFromFile = async (server: Server): Promise<string> => {
    const password = await new Promise<string | undefined>((resolve) => {
      pgpass(server, resolve);
    });
    if (password !== undefined) return password;
    // pg would keep the connection open, and a command would not end.
    this.abandon();
    throw new CommandError(
      'The database asks for a password: neither its URL nor PGPASSFILE has one',
    );
  };

  private readonly giveUp = (error: Error): void => {
    if (error.message === 'Query read timeout') this.abandon();
  };
}
