import type { OnApplicationShutdown } from '@nestjs/common';
import type { Client } from 'pg';
import { DataSource } from 'typeorm';
import { primaryPool, processIdOf } from '../private-api/database.js';
import { DatabaseClient, databaseOptions, poolOptions } from './database-client.js';
import type { Primary } from './primary.js';

/** One connection for each user: the readiness check, tally maintenance, and the choice of counted words. */
const CONNECTIONS = 3;
/** Milliseconds that a statement may run. A shutdown waits for the statement in progress. */
const STATEMENT_TIMEOUT = 5000;

/** Connections for the readiness check and maintenance, which go on while requests use every one of their pool. */
export class ReservedConnections implements OnApplicationShutdown {
  /** Has no entities. Await `connected` before the first statement. */
  readonly dataSource: DataSource;
  private connecting: Promise<DataSource> | undefined;

  constructor(private readonly primary: Primary) {
    const limits = { poolSize: CONNECTIONS, queryTimeout: STATEMENT_TIMEOUT };
    const { url, accept } = primary;
    this.dataSource = new DataSource(databaseOptions(url, { ...limits, onConnect: accept }));
  }

  /** The first call connects it. If that fails, the next call tries again. */
  connected(): Promise<DataSource> {
    this.connecting ??= this.connect().catch((error: unknown) => {
      this.connecting = undefined;
      throw error;
    });
    return this.connecting;
  }

  /**
   * Runs statements that may take minutes, on a connection of their own.
   *
   * @param signal cancels the statement in progress, and closes the connection
   * @returns what `work` returns; false if `signal` was aborted
   */
  async withoutTimeLimit(
    work: (client: Client) => Promise<boolean>,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const client = new DatabaseClient(poolOptions(this.primary.url));
    const cancel = (): void => {
      const processID = processIdOf(client);
      this.dataSource.query('SELECT pg_cancel_backend($1)', [processID]).catch(() => undefined);
      // So that no further statement begins.
      client.closeNow();
    };
    await client.connect();
    signal?.addEventListener('abort', cancel);
    try {
      this.primary.accept(client);
      return !signal?.aborted && (await work(client));
    } catch (error) {
      if (signal?.aborted) return false;
      throw client.loss ?? error;
    } finally {
      signal?.removeEventListener('abort', cancel);
      await client.end();
    }
  }

  private async connect(): Promise<DataSource> {
    const dataSource = await this.dataSource.initialize();
    this.primary.watch(primaryPool(dataSource));
    return dataSource;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connecting?.catch(() => undefined);
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}
