import type { Socket } from 'node:net';
import { Client, type ClientConfig, type PoolConfig } from 'pg';
import pgpass, { type Server } from 'pgpass';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { CommandError } from '../command-error.js';

/** Milliseconds after which an attempt to connect fails. */
const CONNECT_TIMEOUT = 5000;
/** Milliseconds after `statement_timeout` at which an unanswered query fails: the server is hung. */
const RESPONSE_MARGIN = 1000;

interface Limits {
  /** Maximum number of connections. Default: 2. */
  readonly poolSize?: number;
  /** Milliseconds that a query may run. Default: 0, no limit. */
  readonly queryTimeout?: number;
}

/** TypeORM options of every data source of the service, for an embedded or an external server. */
export function databaseOptions(url: string, limits: Limits = {}): PostgresDataSourceOptions {
  const { max, ...extra } = poolOptions(url, limits);
  return { type: 'postgres', url, poolSize: max, extra, installExtensions: false };
}

/** Options of `pg` for a pool or a connection, as every connection of the service has them. */
export function poolOptions(
  url: string,
  { poolSize = 2, queryTimeout = 0 }: Limits = {},
): PoolConfig & ClientOptions & { Client: typeof Client } {
  return {
    connectionString: url,
    application_name: 'catalogue',
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    Client: DatabaseClient,
    keepAlive: true,
    // The planner overestimates short queries whose values it does not know; JIT would slow them. So
    // would parallel workers, which take milliseconds to start: only a scan of a million rows is worth them.
    options: '-c jit=off -c parallel_setup_cost=20000',
    statement_timeout: queryTimeout,
    responseTimeout: queryTimeout && queryTimeout + RESPONSE_MARGIN,
  };
}

interface ClientOptions extends ClientConfig {
  /** Milliseconds without a byte from the server after which a query fails. Default: 0, no limit. */
  readonly responseTimeout?: number;
}

/**
 * A client that closes its connection when a query gets no response. The server ends every query at
 * `statement_timeout`, so a missing response means a dead connection, on which the next query would
 * wait as well. Without a password in the URL it reads one from the password file.
 */
export class DatabaseClient extends Client {
  constructor(config: ClientOptions = {}) {
    super(config);
    // pg reads the file by itself, but prints a deprecation warning each time.
    Object.assign(this, { password: this.password ?? this.passwordFromFile });
    this.once('connect', () => {
      this.limitSilence(config.responseTimeout ?? 0);
    });
  }

  /** Closes the connection at once. Queries without a response fail. */
  closeNow(): void {
    this.connection.stream.destroy();
  }

  /**
   * The password for a URL that has none.
   *
   * @throws CommandError if the file has none either
   * @see https://www.postgresql.org/docs/current/libpq-pgpass.html
   */
  private readonly passwordFromFile = async (server: Server): Promise<string> => {
    const password = await new Promise<string | undefined>((resolve) => {
      pgpass(server, resolve);
    });
    if (password !== undefined) return password;
    // pg would keep the connection open, and the command would not end.
    this.closeNow();
    throw new CommandError(
      'The database asks for a password: neither its URL nor PGPASSFILE has one',
    );
  };

  /**
   * Fails the query in progress when the socket is silent. The timer of the socket costs nothing for
   * each query, unlike `query_timeout` of pg, whose timer also keeps the result of the query in
   * memory until a full garbage collection.
   */
  private limitSilence(timeout: number): void {
    const stream = this.connection.stream as Socket;
    stream.setTimeout(timeout);
    // Not as the callback of `setTimeout`, which is called once: that may be while the connection is idle.
    stream.on('timeout', () => {
      const { readyForQuery } = this as unknown as { readyForQuery: boolean };
      if (!readyForQuery) stream.destroy(new Error('Query read timeout'));
    });
  }
}
