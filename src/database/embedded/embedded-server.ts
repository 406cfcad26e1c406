import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../command-error.js';
import { CATALOGUE, openCluster, passwordOf } from './cluster.js';
import { Watchdog } from './watchdog.js';
import { type Lease, obtainLease } from './lease.js';
import { acquireServiceLock, serviceHolder } from './session.js';

export interface EmbeddedServer {
  /** `postgres://…` URL of the database `catalogue` with the superuser's credentials. */
  readonly url: string;

  /**
   * Claims the data directory until `release()` or the end of this process. Only one service may run
   * on a data directory.
   *
   * @param holder identifies this service in the errors of others, such as
   *   `pid 123, http://127.0.0.1:3000`; at most 63 bytes
   * @throws CommandError if another service has claimed it; names its holder
   */
  claimService(holder: string): Promise<void>;

  /**
   * Ends this process's use of the server. Resolves when the server has stopped, or at once if
   * another process still uses it.
   */
  release(): Promise<void>;
}

export interface EmbeddedServerOptions {
  /** Additional settings of PostgreSQL. Used only if this process starts the server. */
  settings?: Record<string, string>;
  /** Called with one line for the user. Default: prints to stderr. */
  onNotice?: (line: string) => void;
}

/** How long `release` waits for the server to stop. The server stops even after that. */
const RELEASE_TIMEOUT_MS = 30_000;

/** How long the lock of a service that was just killed may remain. */
const CLAIM_TIMEOUT_MS = 500;

/** Maximum delay between two attempts to renew the lease. */
const MAX_RETRY_DELAY_MS = 10_000;

/**
 * Opens a PostgreSQL server on `dataDir`. Creates the cluster and starts the server as needed. All
 * processes that use `dataDir` share the server. It stops when the last of them has released it or
 * has ended, even by SIGKILL.
 *
 * The server listens on 127.0.0.1 only. If it crashes, it is restarted with the same URL; queries
 * fail until then. Open handles of this module do not keep the process alive.
 *
 * @param dataDir created if it does not exist
 * @throws CommandError if the platform, the user or the directory cannot run a server
 */
export async function embeddedServer(
  dataDir: string,
  { settings = {}, onNotice = console.error }: EmbeddedServerOptions = {},
): Promise<EmbeddedServer> {
  const directory = resolve(dataDir);
  const cluster = await openCluster(directory, onNotice);
  const password = await passwordOf(cluster.directory);
  const watchdog = new Watchdog(cluster.directory);
  const released = new AbortController();
  const obtain = (): Promise<Lease> => obtainLease(cluster, settings, watchdog, released.signal);
  try {
    const lease = await obtain();
    const url = `postgres://${CATALOGUE}:${password}@127.0.0.1:${lease.port}/${CATALOGUE}?sslmode=disable`;
    return new SharedServer(url, lease, { directory, obtain, watchdog, released, onNotice });
  } catch (error) {
    await watchdog.release(RELEASE_TIMEOUT_MS);
    throw error;
  }
}

interface Context {
  directory: string;
  obtain: () => Promise<Lease>;
  watchdog: Watchdog;
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
      const began = performance.now();
      while (!(await acquireServiceLock(client, holder))) {
        const other = await serviceHolder(client);
        if (other !== undefined && performance.now() - began > CLAIM_TIMEOUT_MS) {
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
    await this.context.watchdog.release(RELEASE_TIMEOUT_MS);
  }

  #hold(lease: Lease): void {
    this.#lease = lease;
    lease.client.unref();
    lease.client.once('end', () => {
      if (!this.context.released.signal.aborted) this.#renewal = this.#renew();
    });
  }

  /**
   * Obtains a new lease after its connection was lost. PostgreSQL closes all connections when one of
   * its processes crashes; a server that was killed must be restarted.
   */
  async #renew(): Promise<void> {
    const { signal } = this.context.released;
    for (let delay = 50; !signal.aborted; delay = Math.min(2 * delay, MAX_RETRY_DELAY_MS)) {
      try {
        await sleep(delay, undefined, { ref: false, signal });
        this.#hold(await this.context.obtain());
        break;
      } catch {
        // Not reported here: requests report that the database is unavailable.
      }
    }
    if (this.#holder === undefined || signal.aborted) return;
    await this.claimService(this.#holder).catch((error: unknown) => {
      if (error instanceof CommandError) this.context.onNotice(error.message);
    });
  }
}
