import { Logger } from '@nestjs/common';
import type { ClientBase, Pool } from 'pg';
import { removeIdle } from '../private-api/database.js';
import { DatabaseClient } from './database-client.js';
import { NotPrimaryError } from './database-failure.js';
import { poolOptions } from './options.js';
import type { SessionServer } from './session.js';

/** Milliseconds that a statement of a look may take. A server may fall silent when it has accepted the connection. */
const LOOK_TIMEOUT = 3000;
/** Milliseconds for which a refused connection tells that the address does not lead to the primary: longer than from one look to the next. */
const REFUSAL = 3000;
/**
 * Milliseconds for which a server that answered keeps its place against one of an earlier timeline: a former primary that
 * a balancer takes for the primary for a moment. Longer than several looks.
 */
const PRECEDENCE = 6000;

/**
 * The server that `DATABASE_URL` leads to. Each new connection tells which one that is. When it is another one than before,
 * the pools close their connections to the former one: at once if they are idle, otherwise when their work has ended.
 */
export class Primary {
  /** The server that accepted connections are to. `undefined` until the first one. */
  server: SessionServer | undefined;
  private readonly logger = new Logger(Primary.name);
  private readonly pools: Pool[] = [];
  /** `performance.now()` value of the last connection to `server`. */
  private metAt = -Infinity;
  private refused: { readonly at: number; readonly error: NotPrimaryError } | undefined;
  /** The open connections that were accepted. */
  private readonly accepted = new Set<ClientBase>();

  constructor(readonly url: string) {}

  /** Why the last connection was refused; `undefined` if it was not. */
  private get refusal(): NotPrimaryError | undefined {
    const { refused } = this;
    return refused && performance.now() - refused.at < REFUSAL ? refused.error : undefined;
  }

  /** How the server is less than a primary, as `/health/ready` tells; `undefined` if it is not. */
  get limitation(): 'standby' | 'former' | 'read-only' | undefined {
    if (this.refusal) return this.refusal.limitation;
    if (this.server?.isStandby) return 'standby';
    return this.server?.isReadOnly ? 'read-only' : undefined;
  }

  /**
   * So that requests do not open connections only to be refused.
   *
   * @throws NotPrimaryError while no connection is open and none can be
   */
  requireConnections(): void {
    if (this.accepted.size === 0 && this.refusal) throw this.refusal;
  }

  /** Closes connections of a pool when they are to a former server. Its new ones must pass `accept`. */
  watch(pool: Pool): void {
    this.pools.push(pool);
    pool.on('release', (_error, client) => {
      // The pool then removes it.
      if (this.isFormer(client)) void client.end();
    });
  }

  /**
   * Takes notice of the server of a new connection.
   *
   * @throws NotPrimaryError if the connection must not be used: what it reads may be older than what was read before
   */
  readonly accept = (client: ClientBase): void => {
    const { server } = client as DatabaseClient;
    if (!server) throw new TypeError('The client is not connected');
    const present = this.server;
    const error = this.objectionTo(server);
    if (error) {
      if (!this.refusal) this.logger.warn(error.message);
      this.refused = { at: performance.now(), error };
      throw error;
    }
    this.refused = undefined;
    this.accepted.add(client);
    client.once('end', () => this.accepted.delete(client));
    this.server = server;
    this.metAt = performance.now();
    if (server.isReadOnly && !present?.isReadOnly) {
      this.logger.warn(`The primary is read-only: ${described(server)}`);
    }
    if (!present || present.identity === server.identity) return;
    this.logger.warn(
      `The primary is now ${described(server)}; before, it was ${described(present)}`,
    );
    for (const pool of this.pools) removeIdle(pool, (idle) => this.isFormer(idle));
  };

  /**
   * Opens a connection, which tells whether the URL leads to another server: those that are open may stay with a former one.
   *
   * @throws NotPrimaryError as `accept`; or an error of the driver
   */
  async look(): Promise<void> {
    const client = new DatabaseClient(poolOptions(this.url, { queryTimeout: LOOK_TIMEOUT }));
    try {
      await client.connect();
      this.accept(client);
    } finally {
      await client.end();
    }
  }

  /**
   * Runs work that reads, and once more if the primary has changed during it: a connection to the former server may have
   * answered, after another one had been answered by the present one.
   */
  async read<T>(work: () => Promise<T>): Promise<T> {
    const { server } = this;
    const result = await work();
    return !server || server.identity === this.server?.identity ? result : work();
  }

  private isFormer(client: ClientBase): boolean {
    return (client as DatabaseClient).server?.identity !== this.server?.identity;
  }

  private objectionTo(server: SessionServer): NotPrimaryError | undefined {
    // One that was there from the beginning is read: an export, or a service that only reads.
    if (server.isStandby && this.server && !this.server.isStandby) {
      return new NotPrimaryError('standby', `The server ${server.address} is a standby`);
    }
    const isRecent = performance.now() - this.metAt < PRECEDENCE;
    if (isRecent && server.timeline < (this.server?.timeline ?? 0)) {
      return new NotPrimaryError('former', `The server ${server.address} is a former primary`);
    }
    return undefined;
  }
}

function described({ address, timeline, startedAt }: SessionServer): string {
  return `${address}, timeline ${timeline}, started at ${startedAt}`;
}
