import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Starts work that goes on until its signal is aborted. The result does that, and resolves at the end of the work. */
export function inBackground(work: (signal: AbortSignal) => Promise<unknown>): () => Promise<void> {
  const told = new AbortController();
  const ended = work(told.signal);
  return async () => {
    told.abort();
    await ended;
  };
}

/** Servers of which one is the primary, with the database `catalogue`, whose owner is `catalogue`. */
export interface Servers {
  /** Of the primary. */
  url(role?: string, database?: string): string | Promise<string>;
  /** A new connection to the primary. */
  connect(role?: string, database?: string): Promise<pg.Client>;
}

/**
 * Starts work on a connection of a role to the primary, and after an error again on another one. The result ends it.
 */
export function onPrimary(
  servers: Servers,
  work: (client: pg.Client, signal: AbortSignal) => Promise<void>,
  role?: string,
): () => Promise<void> {
  return inBackground(async (signal) => {
    while (!signal.aborted) {
      let client: pg.Client | undefined;
      try {
        client = await servers.connect(role);
        await work(client, signal);
      } catch {
        // The last commit may have succeeded all the same.
        await sleep(50);
      } finally {
        void client?.end().catch(() => undefined);
      }
    }
  });
}

/** Connects to a primary, which may go away. A statement fails after so many milliseconds. */
export async function connected(url: string, query_timeout = 30_000): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 2000,
    query_timeout,
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Resolves when a condition holds; fails after three minutes. */
export async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const began = performance.now();
  while (!(await holds().catch(() => false))) {
    if (performance.now() - began > 180_000) throw new Error(`In three minutes: ${what}`);
    await sleep(100);
  }
}
