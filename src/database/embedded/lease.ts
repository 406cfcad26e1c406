import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../command-error.js';
import { type Cluster, CATALOGUE } from './cluster.js';
import { errorCode } from './error-code.js';
import { removeStaleLockFile, runningPostmaster } from './postmaster.js';
import { type ServerStart, startServer } from './server-start.js';
import { type Session, acquireLease, connect } from './session.js';
import type { Watchdog } from './watchdog.js';

/** How long a server may take to accept connections. After a crash it replays its log first. */
const START_TIMEOUT_MS = 120_000;

/** A connection that holds the shared lease lock. While it is open, no process stops the server. */
export interface Lease {
  readonly client: Session;
  readonly port: number;
}

/**
 * Obtains a lease on the cluster's server. Starts the server if it is not running. Several processes
 * may do so at once: PostgreSQL lets only one of their servers start, and the others use that one.
 *
 * @param settings additional settings of PostgreSQL
 * @throws CommandError if the server cannot be started or reached
 * @throws the reason of the signal if the signal is aborted
 */
export async function obtainLease(
  cluster: Cluster,
  settings: Record<string, string>,
  watchdog: Watchdog,
  signal: AbortSignal,
): Promise<Lease> {
  watchdog.report({ starting: true, backend: 0 });
  const { directory } = cluster;
  const deadline = performance.now() + START_TIMEOUT_MS;
  let start: ServerStart | undefined;
  let obstacle = 'it does not start';

  const attempt = async (): Promise<Lease | undefined> => {
    const server = await runningPostmaster(directory);
    if (server) {
      try {
        const client = server.ready ? await leaseOn(directory, server.port, watchdog) : undefined;
        if (client) return { client, port: server.port };
        obstacle = 'it is still starting, or being stopped';
      } catch (error) {
        obstacle = reasonToWait(error, directory);
      }
      return undefined;
    }
    if (start && !start.pending) {
      await start.throwIfPermanent();
      start = undefined;
    }
    if (!start) {
      await removeStaleLockFile(directory);
      start = await startServer(cluster, settings);
    }
    return undefined;
  };

  try {
    while (performance.now() < deadline) {
      const lease = await attempt();
      if (lease) return lease;
      await sleep(20, undefined, { signal });
    }
    throw new CommandError(`The PostgreSQL on ${directory} cannot be used: ${obstacle}`);
  } catch (error) {
    watchdog.report({ starting: start?.pending ?? false, backend: 0 });
    throw error;
  }
}

/** Connects, takes a lease and ensures the database; undefined if the server is being stopped. */
async function leaseOn(
  directory: string,
  port: number,
  watchdog: Watchdog,
): Promise<Session | undefined> {
  const client = await connect(directory, port);
  try {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    watchdog.report({ starting: false, backend: rows[0]?.pid ?? 0 });
    if (await acquireLease(client)) {
      await createDatabase(client);
      return client;
    }
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  await client.end();
  return undefined;
}

async function createDatabase(client: Session): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [
    CATALOGUE,
  ]);
  if (rowCount !== 0) return;
  try {
    await client.query(`CREATE DATABASE ${CATALOGUE}`);
  } catch (error) {
    // Another process created it first: duplicate_database, or unique_violation in a race.
    if (!['42P04', '23505'].includes(errorCode(error) ?? '')) throw error;
  }
}

/**
 * Why a running server cannot be used yet.
 *
 * @throws CommandError if waiting does not help
 */
function reasonToWait(error: unknown, directory: string): string {
  const reason = error instanceof Error ? error.message : String(error);
  // An SQLSTATE outside of classes 08 (connection), 53 (resources) and 57 (operator intervention).
  if (/^(?!08|53|57)[0-9A-Z]{5}$/.test(errorCode(error) ?? '')) {
    throw new CommandError(`The PostgreSQL on ${directory} rejects the connection: ${reason}`);
  }
  return reason;
}
