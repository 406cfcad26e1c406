import { Logger } from '@nestjs/common';
import type { ClientBase, Pool } from 'pg';
import { removeIdle } from '../private-api/database.js';
import { DatabaseClient, poolOptions } from './database-client.js';
import { type Limitation, NotPrimaryError } from './database-failure.js';
import type { SessionServer } from './session.js';

/** Milliseconds between two checks of the address. */
export const CHECK_PERIOD = 2000;
/** Milliseconds that a statement of a check may take. A server may stop responding when it has accepted the connection. */
const CHECK_TIMEOUT = 3000;
/** Milliseconds for which a refused connection counts: until the next check, and some more. */
const REFUSAL = 1.5 * CHECK_PERIOD;
/**
 * Milliseconds for which a server, after its last connection, is preferred to one of an earlier timeline. A balancer may take
 * a former primary for the primary for a moment.
 */
const PRECEDENCE = 3 * CHECK_PERIOD;

/**
 * The server that `DATABASE_URL` points at. Each new connection reports which one that is. When it changes, the pools close
 * their connections to the former server: idle ones at once, the others when their work has ended.
 */
export class Primary {
  /** The server of the newest accepted connection. */
  server: SessionServer | undefined;
  private readonly logger = new Logger(Primary.name);
  private readonly pools: Pool[] = [];
  /** `performance.now()` value of the last connection to `server`. */
  private connectedAt = -Infinity;
  private refused: { readonly at: number; readonly error: NotPrimaryError } | undefined;
  /** The open connections that were accepted. */
  private readonly accepted = new Set<ClientBase>();

  constructor(readonly url: string) {}

  /** Why the newest connection was refused; `undefined` if it was accepted, or if that was a while ago. */
  private get refusal(): NotPrimaryError | undefined {
    const { refused } = this;
    return refused && performance.now() - refused.at < REFUSAL ? refused.error : undefined;
  }

  /** Why the server is not a writable primary, as `/health/ready` reports; `undefined` if it is one. */
  get limitation(): Limitation | undefined {
    return this.refusal?.limitation ?? limitationOf(this.server);
  }

  /** Fails at once while new connections are refused and none is open. @throws NotPrimaryError */
  requireConnections(): void {
    if (this.accepted.size === 0 && this.refusal) throw this.refusal;
  }

  /** Closes the connections of a pool to a former server. Its new ones must pass `accept`. */
  watch(pool: Pool): void {
    this.pools.push(pool);
    pool.on('release', (_error, client) => {
      // pg-pool removes a client that has ended.
      if (this.isFormer(client)) (client as ClientBase as DatabaseClient).endNow();
    });
  }

  /**
   * Compares the server of a new connection with that of the one before.
   *
   * @throws NotPrimaryError if the connection must not be used: what it reads may be older than what was read before
   */
  readonly accept = (client: ClientBase): void => {
    const { server } = client as DatabaseClient;
    if (!server) throw new TypeError('The client is not connected');
    const before = this.server;
    const error = this.objectionTo(server);
    if (error) {
      // pg-pool waits for the server to end the connection.
      (client as DatabaseClient).endNow();
      this.refused = { at: performance.now(), error };
      throw error;
    }
    this.refused = undefined;
    this.accepted.add(client);
    client.once('end', () => this.accepted.delete(client));
    this.server = server;
    this.connectedAt = performance.now();
    if (!before || before.identity === server.identity) return;
    this.logger.warn(
      `The primary is now ${described(server)}; before, it was ${described(before)}`,
    );
    for (const pool of this.pools) removeIdle(pool, (idle) => this.isFormer(idle));
  };

  /**
   * Opens a connection, which reports whether the address points at another server: open ones may stay with a former one.
   *
   * @throws NotPrimaryError as `accept`; or an error of the driver
   */
  async check(): Promise<void> {
    const client = new DatabaseClient(poolOptions(this.url, { queryTimeout: CHECK_TIMEOUT }));
    try {
      await client.connect();
      this.accept(client);
    } finally {
      client.endNow();
    }
  }

  /**
   * Runs work that reads, and a second time if the primary has changed during the first: that may have read from the former
   * primary, or failed there.
   *
   * @param discard releases what a result of the first run holds
   */
  async read<T>(work: () => Promise<T>, discard?: (result: T) => Promise<void>): Promise<T> {
    const { server } = this;
    const isChanged = (): boolean =>
      server !== undefined && server.identity !== this.server?.identity;
    try {
      const result = await work();
      if (!isChanged()) return result;
      await discard?.(result);
    } catch (error) {
      if (!isChanged()) throw error;
    }
    return work();
  }

  private isFormer(client: ClientBase): boolean {
    return (client as DatabaseClient).server?.identity !== this.server?.identity;
  }

  private objectionTo(server: SessionServer): NotPrimaryError | undefined {
    const { server: present } = this;
    // Where no primary has answered, it is read: a command may export from a standby.
    if (server.isStandby && present && !present.isStandby) {
      return new NotPrimaryError('standby', `The server ${server.address} is a standby`);
    }
    const isPreferred = performance.now() - this.connectedAt < PRECEDENCE;
    if (isPreferred && present && server.timeline < present.timeline) {
      return new NotPrimaryError(
        'former primary',
        `The server ${server.address} has timeline ${server.timeline}, but the primary has ${present.timeline}`,
      );
    }
    return undefined;
  }
}

function limitationOf(server: SessionServer | undefined): Limitation | undefined {
  if (server?.isStandby) return 'standby';
  return server?.isReadOnly ? 'read-only' : undefined;
}

function described(server: SessionServer): string {
  const { address, database, timeline, startedAt } = server;
  const limitation = limitationOf(server);
  return `${address}, database ${database}, timeline ${timeline}, started at ${startedAt}${limitation ? `, ${limitation}` : ''}`;
}
