import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** Servers of which one is the primary. */
interface Servers {
  /** A new connection to the primary. */
  connect(): Promise<pg.Client>;
}

/** Does work on a connection to the primary, and after an error again on another one, until a signal. */
export async function onPrimary(
  servers: Servers,
  signal: AbortSignal,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    let client: pg.Client | undefined;
    try {
      client = await servers.connect();
      await work(client);
    } catch {
      // The last commit may have succeeded all the same.
      await sleep(50);
    } finally {
      void client?.end().catch(() => undefined);
    }
  }
}
