import { setTimeout as sleep } from 'node:timers/promises';
import { databaseError, failureOf } from './database-error.js';
import { migrate } from './migrate.js';

/** Milliseconds between two tries. */
const EVERY = 500;

/**
 * Migrates a database as soon as it is there: it may come up after the service. What is wrong with
 * its URL ends it at once.
 *
 * @param stop ends the waiting
 * @param onWaiting is told once why it waits
 * @returns false if it was stopped before
 */
export async function migrateOnceThere(
  url: string,
  stop: AbortSignal,
  onWaiting: (reason: string) => Promise<void>,
): Promise<boolean> {
  for (let tries = 0; !stop.aborted; tries += 1) {
    try {
      await migrate(url);
      return true;
    } catch (error) {
      if (!isAway(error)) throw error;
      const { code, message } = failureOf(error);
      if (tries === 0) await onWaiting(code ?? message);
    }
    await sleep(EVERY, undefined, { signal: stop }).catch(() => undefined);
  }
  return false;
}

/** Whether a database may yet come: not if it refuses the user or has no such database. */
function isAway(error: unknown): boolean {
  const { code = '' } = failureOf(error);
  // https://www.postgresql.org/docs/current/errcodes-appendix.html: classes 28 and 3D
  return databaseError(error)?.errcode === -2 && !/^(28|3D)/.test(code);
}
