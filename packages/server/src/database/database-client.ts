import pgpass, { type Server } from 'pgpass';
import { Client, type ClientBase, type ClientConfig, type PoolConfig, type QueryResult } from 'pg';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { randomUUID } from 'node:crypto';
import { CommandError } from '../command-error.js';
import {
  askForPassword,
  isIdle,
  setProcessId,
  socketOf,
  startupOf,
} from '../private-api/database.js';
import {
  optionsOf,
  type Session,
  SESSION_STATEMENT,
  type SessionServer,
  sessionStatement,
} from './session.js';

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

interface ClientOptions extends ClientConfig {
  /** Milliseconds without a byte from the server after which a query fails. Default: 0, no limit. */
  readonly responseTimeout?: number;
  /** Milliseconds that a statement may run. Default: 0, no limit. */
  readonly statementTimeout?: number;
}

/** What ended the connection that was lost last: TypeORM says only that its query runner was released. */
export let lastLoss: Error | undefined;

/** What such a connection sets, prepares and locks would belong to another one. */
const SHARED_SESSION =
  'The pooler before the database lets connections share a session: set pool_mode = session, and server_reset_query = DISCARD ALL';

type Connected = ((error: Error) => void) | ((error: null, client: Client) => void);

/**
 * A client whose session has the settings of `session.ts`. It closes its connection when a query gets no response: the
 * server ends every query at `statement_timeout`, so the connection is dead. Without a password in the URL it reads one
 * from the password file.
 */
export class DatabaseClient extends Client {
  /** What ended the connection, such as the server's own message. Absent while it is open. */
  loss: Error | undefined;
  /** The server of the connection, as it was when that was opened. Absent until then. */
  server: SessionServer | undefined;

  constructor(private readonly config: ClientOptions = {}) {
    super(config);
    // pg reads the file by itself, but prints a deprecation warning each time.
    askForPassword(this, this.passwordFromFile);
    // Also: without a listener, a connection that is lost between two statements would end the process.
    this.on('error', (error) => {
      this.loss ??= error;
      lastLoss = this.loss;
    });
    this.once('connect', () => {
      this.limitSilence(config.responseTimeout ?? 0);
    });
  }

  override connect(): Promise<this>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<this> | undefined {
    const opened = this.open();
    if (!callback) return opened;
    const called = callback as (error: Error | null, client?: Client) => void;
    opened.then((client) => {
      called(null, client);
    }, called);
  }

  /** Connects, and prepares the session: only then is the client used. */
  private async open(): Promise<this> {
    const startup = startupOf(this);
    const { settings, rest } = optionsOf(startup.options);
    // A pooler may refuse a setting at the start of a connection. The statement sets it.
    const unsent = {
      statement_timeout: 0,
      lock_timeout: 0,
      idle_in_transaction_session_timeout: 0,
    };
    Object.assign(startup, { ...unsent, options: rest });
    await super.connect();
    try {
      await this.prepareSession(settings);
    } catch (error) {
      this.closeNow();
      throw error;
    }
    return this;
  }

  /** @throws CommandError if a pooler lets connections share a session */
  private async prepareSession(settings: [string, string][]): Promise<void> {
    const mark = randomUUID();
    const prepared = sessionStatement(this.config.statementTimeout ?? 0, settings, mark);
    const [before] = (await this.query(prepared)) as unknown as QueryResult<Session>[];
    const { rows } = await this.query<Session>(SESSION_STATEMENT);
    const [session] = rows;
    if (before?.rows[0]?.mark || session?.mark !== mark) throw new CommandError(SHARED_SESSION);
    setProcessId(this, session.processID);
    this.server = session;
  }

  /** Closes the connection at once. Queries without a response fail. */
  closeNow(): void {
    socketOf(this).destroy();
  }

  /** Ends the session without waiting for the server, which may have stopped responding. */
  endNow(): void {
    this.end().catch(() => undefined);
    this.closeNow();
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
    const socket = socketOf(this);
    socket.setTimeout(timeout);
    // Not as the callback of `setTimeout`, which is called once: that may be while the connection is idle.
    socket.on('timeout', () => {
      if (!isIdle(this)) socket.destroy(new Error('Query read timeout'));
    });
  }
}
