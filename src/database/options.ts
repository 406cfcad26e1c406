import { Client } from 'pg';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';

/** Milliseconds after which a connection that cannot be had is given up. */
const CONNECT_TIMEOUT = 5000;
/** Milliseconds past a query's own time after which its server is taken to have fallen silent. */
const SILENCE = 1000;

/**
 * How every part of the catalogue speaks to its database, embedded or not.
 *
 * @param queryTimeout milliseconds that a query may run; 0: as long as it must
 */
export function databaseOptions(
  url: string,
  { poolSize = 2, queryTimeout = 0 }: { poolSize?: number; queryTimeout?: number } = {},
): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    url,
    applicationName: 'catalogue',
    poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT,
    extra: {
      Client: ImpatientClient,
      keepAlive: true,
      // No query here is worth compiling, whatever the planner expects of values it does not know.
      options: '-c jit=off',
      statement_timeout: queryTimeout,
      query_timeout: queryTimeout && queryTimeout + SILENCE,
    },
    installExtensions: false,
  };
}

/**
 * A connection that is given up with a query that it does not answer. The server would have ended
 * the query at its time, so it is the connection that leads nowhere, and the next query would wait
 * behind this one.
 */
class ImpatientClient extends Client {
  private readonly send = super.query.bind(this) as (...args: unknown[]) => unknown;

  override query = ((...args: unknown[]): unknown => {
    const result = this.send(...args);
    if (result instanceof Promise) result.catch(this.giveUp);
    return result;
  }) as Client['query'];

  private readonly giveUp = (error: Error): void => {
    if (error.message === 'Query read timeout') this.connection.stream.destroy();
  };
}
