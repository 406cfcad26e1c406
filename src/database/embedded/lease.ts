import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../command-error.js';
import { type Cluster, CATALOGUE } from './cluster.js';
import { errorCode } from './error-code.js';
import type { Guard } from './guard.js';
import { removeStaleLockFile, runningPostmaster } from './postmaster.js';
import { type ServerStart, startServer } from './server-start.js';
import { type Session, connect, takeLease } from './session.js';

/** How long a server may take to be there: one that was killed may have much of its log to replay. */
const THERE_WITHIN_MS = 120_000;

/** A connection that holds a lease: while it is open, nobody stops the server. */
export interface Lease {
  readonly client: Session;
  readonly port: number;
}

/**
 * Joins the users of the cluster's server, starting it where it is not running. Any number of
 * processes may do so at once: PostgreSQL lets one of their servers start, and the others join it.
 * @throws CommandError if the server cannot be started or reached
 */
export async function obtainLease(
  cluster: Cluster,
  settings: Record<string, string>,
  guard: Guard,
  signal: AbortSignal,
): Promise<Lease> {
  guard.tell({ starting: true, backend: 0 });
  const { directory } = cluster;
  const deadline = performance.now() + THERE_WITHIN_MS;
  let start: ServerStart | undefined;
  let obstacle = 'it does not start';

  const attempt = async (): Promise<Lease | undefined> => {
    const server = await runningPostmaster(directory);
    if (server) {
      try {
        const client = server.ready ? await leaseOn(directory, server.port, guard) : undefined;
        if (client) return { client, port: server.port };
        obstacle = 'it is still starting, or being stopped';
      } catch (error) {
        obstacle = reasonToWait(error, directory);
      }
      return undefined;
    }
    if (start && !start.pending) {
      await start.refuseIfHopeless();
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
    guard.tell({ starting: start?.pending ?? false, backend: 0 });
    throw error;
  }
}

/** A connection with a lease and a database to use; undefined when the server is being stopped. */
async function leaseOn(
  directory: string,
  port: number,
  guard: Guard,
): Promise<Session | undefined> {
  const client = await connect(directory, port);
  try {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    guard.tell({ starting: false, backend: rows[0]?.pid ?? 0 });
    if (await takeLease(client)) {
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
    // Another process was quicker: seen either before or as it wrote its row.
    if (!['42P04', '23505'].includes(errorCode(error) ?? '')) throw error;
  }
}

/** Why a server that runs cannot be used yet; throws where waiting does not help. */
function reasonToWait(error: unknown, directory: string): string {
  const reason = error instanceof Error ? error.message : String(error);
  // A state of PostgreSQL's own, other than: no connection, too many, not at the moment.
  if (/^(?!08|53|57)[0-9A-Z]{5}$/.test(errorCode(error) ?? '')) {
    throw new CommandError(`The PostgreSQL on ${directory} does not let us in: ${reason}`);
  }
  return reason;
}
