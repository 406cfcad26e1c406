import { setTimeout as sleep } from 'node:timers/promises';
import { databaseFailure, driverErrorOf } from './database-failure.js';
import { migrate } from './migrate.js';

/** Milliseconds between two tries. */
const EVERY = 500;

/**
 * Migrates a database as soon as it is there: it may come up after the service. What is wrong with
 * its URL ends it at once.
 *
 * @param signal ends it
 * @param onWaiting is told in a line what it waits for: for the database once, for `migrate` as that does
 * @returns false if it was stopped before
 */
export async function migrateWhenAvailable(
  url: string,
  signal: AbortSignal,
  onWaiting: (cause: 'database' | 'migrations', line: string) => void,
): Promise<boolean> {
  const onLocked = (line: string): void => {
    onWaiting('migrations', line);
  };
  const isStopped = (): boolean => signal.aborted;
  for (let tries = 0; !isStopped(); tries += 1) {
    try {
      await migrate(url, { signal, onWaiting: onLocked });
      return true;
    } catch (error) {
      if (isStopped()) return false;
      if (!isAway(error)) throw error;
      const { code, message } = driverErrorOf(error);
      if (tries === 0) onWaiting('database', `Waiting for the database: ${code ?? message}`);
    }
    await sleep(EVERY, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

/** Whether a database may yet come: not if it refuses the user or has no such database. */
function isAway(error: unknown): boolean {
  const { code = '' } = driverErrorOf(error);
  // https://www.postgresql.org/docs/current/errcodes-appendix.html: classes 28 and 3D
  return databaseFailure(error) === 'unreachable' && !/^(28|3D)/.test(code);
}
