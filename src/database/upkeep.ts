import type { OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { databaseOptions } from './options.js';

/** One connection for each of the two that use it: readiness and the maintenance of the tallies. */
const CONNECTIONS = 2;
/** Milliseconds that a statement may run: the service ends no sooner than the one under way. */
const STATEMENT_TIMEOUT = 5000;

/**
 * Connections to the database that no request can occupy, so that the service knows whether it is
 * ready, and keeps its tallies, also while requests use every connection of theirs.
 */
export class Upkeep implements OnApplicationShutdown {
  /** Without entities. Use `connected` before its first statement. */
  readonly dataSource: DataSource;
  private connecting: Promise<DataSource> | undefined;

  constructor(url: string) {
    const limits = { poolSize: CONNECTIONS, queryTimeout: STATEMENT_TIMEOUT };
    this.dataSource = new DataSource(databaseOptions(url, limits));
  }

  /**
   * The data source, connected at the first call.
   *
   * @throws Error where the database cannot be reached; the next call tries again
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
