import type { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import pgpass, { type Server } from 'pgpass';
import { CommandError } from '../command-error.js';

export interface ClientOptions extends ClientConfig {
  /** Milliseconds without a byte from the server after which a query fails. Default: 0, no limit. */
  readonly responseTimeout?: number;
}

/**
 * A client that closes its connection when a query gets no response: the server ends every query at
 * `statement_timeout`, so the connection is dead. Without a password in the URL it reads one from the password file.
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
   * @throws CommandError if the file has no password
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
   * Fails the query in progress when the socket is silent. Its timer costs nothing for each query; that of
   * `query_timeout` of pg also keeps the result until a full garbage collection.
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
