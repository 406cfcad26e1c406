import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../command-error.js';
import { CATALOGUE, openCluster, passwordOf } from './cluster.js';
import { Guard } from './guard.js';
import { type Lease, obtainLease } from './lease.js';
import { serviceHolder, takeService } from './session.js';

export interface EmbeddedServer {
  /** postgres://… of the database `catalogue`, as the superuser of the server. */
  readonly url: string;

  /**
   * Claims the data directory for the one service that may run on it, until `release()` or the end
   * of this process.
   * @param holder shown to the one refused: `pid 123, http://127.0.0.1:3000`; at most 63 bytes
   * @throws CommandError naming who has it
   */
  claimService(holder: string): Promise<void>;

  /**
   * Ends this process's use of the server. Resolves when the server has stopped, or at once when
   * another process still uses it.
   */
  release(): Promise<void>;
}

export interface EmbeddedServerOptions {
  /** More settings of postgres, for the case that it is this process that starts it. */
  settings?: Record<string, string>;
  /** Told, in one line, what the user should know; by default written to stderr. */
  onNotice?: (line: string) => void;
}

/** How long `release` waits for the server to stop. It stops in any case. */
const RELEASE_WITHIN_MS = 30_000;

/** How long a service that was just killed may still seem to be there. */
const CLAIM_WITHIN_MS = 500;

const LONGEST_PAUSE_MS = 10_000;

/**
 * A PostgreSQL that runs on `dataDir`, made and started where there is none, shared by all the
 * processes that use it, and stopped when the last of them has released it or died, however.
 *
 * It listens on 127.0.0.1 alone. If it dies it is started again under the same URL; what that
 * meets meanwhile is the business of whoever queries it. Nothing here keeps the process alive.
 *
 * @throws CommandError if this machine, this user or this directory cannot have one
 */
export async function embeddedServer(
  dataDir: string,
  { settings = {}, onNotice = console.error }: EmbeddedServerOptions = {},
): Promise<EmbeddedServer> {
  const directory = resolve(dataDir);
  const cluster = await openCluster(directory, onNotice);
  const password = await passwordOf(cluster.directory);
  const guard = new Guard(cluster.directory);
  const released = new AbortController();
  const obtain = (): Promise<Lease> => obtainLease(cluster, settings, guard, released.signal);
  try {
    const lease = await obtain();
    const url = `postgres://${CATALOGUE}:${password}@127.0.0.1:${lease.port}/${CATALOGUE}?sslmode=disable`;
    return new SharedServer(url, lease, { directory, obtain, guard, released, onNotice });
  } catch (error) {
    await guard.leave(RELEASE_WITHIN_MS);
    throw error;
  }
}

interface Context {
  directory: string;
  obtain: () => Promise<Lease>;
  guard: Guard;
  released: AbortController;
  onNotice: (line: string) => void;
}

class SharedServer implements EmbeddedServer {
  #lease: Lease;
  #renewal: Promise<void> | undefined;
  #holder: string | undefined;

  constructor(
    readonly url: string,
    lease: Lease,
    private readonly context: Context,
  ) {
    this.#lease = lease;
    this.#hold(lease);
  }

  async claimService(holder: string): Promise<void> {
    const { client } = this.#lease;
    client.ref();
    try {
      const asked = performance.now();
      while (!(await takeService(client, holder))) {
        const other = await serviceHolder(client);
        if (other !== undefined && performance.now() - asked > CLAIM_WITHIN_MS) {
          throw new CommandError(
            `${this.context.directory} is in use by another catalogue service (${other})`,
          );
        }
        await sleep(50);
      }
      this.#holder = holder;
    } finally {
      client.unref();
    }
  }

  async release(): Promise<void> {
    this.context.released.abort();
    await this.#renewal;
    this.#lease.client.ref();
    await this.#lease.client.end().catch(() => undefined);
    await this.context.guard.leave(RELEASE_WITHIN_MS);
  }

  #hold(lease: Lease): void {
    this.#lease = lease;
    lease.client.unref();
    lease.client.once('end', () => {
      if (!this.context.released.signal.aborted) this.#renewal = this.#renew();
    });
  }

  /**
   * Takes the lease anew when its connection is lost: PostgreSQL ends all connections when one of
   * its processes crashes, and a server that was killed has to be started again.
   */
  async #renew(): Promise<void> {
    const { signal } = this.context.released;
    for (let pause = 50; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        await sleep(pause, undefined, { ref: false, signal });
        this.#hold(await this.context.obtain());
        break;
      } catch {
        // Requests report a database that is down; here there is only the next attempt.
      }
    }
    if (this.#holder === undefined || signal.aborted) return;
    await this.claimService(this.#holder).catch((error: unknown) => {
      if (error instanceof CommandError) this.context.onNotice(error.message);
    });
  }
}
