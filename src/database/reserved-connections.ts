import type { OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { databaseOptions } from './options.js';

/** One connection for each of the two users: the readiness check and tally maintenance. */
const CONNECTIONS = 2;
/** Milliseconds that a statement may run. A shutdown waits for the statement in progress. */
const STATEMENT_TIMEOUT = 5000;

/**
 * Database connections that are reserved for the readiness check and tally maintenance. Both keep
 * working while requests use every connection of the request pool.
 */
export class ReservedConnections implements OnApplicationShutdown {
  /** Has no entities. Await `connected` before the first statement. */
  readonly dataSource: DataSource;
  private connecting: Promise<DataSource> | undefined;

  constructor(url: string) {
    const limits = { poolSize: CONNECTIONS, queryTimeout: STATEMENT_TIMEOUT };
    this.dataSource = new DataSource(databaseOptions(url, limits));
  }

  /**
   * The data source. The first call connects it.
   *
   * @throws Error if the database cannot be reached; the next call tries again
   */
  connected(): Promise<DataSource> {
    this.connecting ??= this.dataSource.initialize().catch((error: unknown) => {
      this.connecting = undefined;
      throw error;
    });
    return this.connecting;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connecting?.catch(() => undefined);
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}
