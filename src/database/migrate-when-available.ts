import { setTimeout as sleep } from 'node:timers/promises';
import { databaseFailure, driverErrorOf } from './database-failure.js';
import { migrate } from './migrate.js';

/** Milliseconds between two attempts. */
const RETRY_INTERVAL = 500;

/**
 * Migrates a database as soon as it accepts connections: it may start after the service.
 *
 * @param searchLanguage the language of searches in a new database
 * @param signal stops the wait
 * @param onWaiting called with a line that says what is waited for: once for the database, and as
 *   often as `migrate` calls its `onWaiting`
 * @returns false if the signal was aborted before the database was migrated
 * @throws Error at once if it cannot succeed: wrong credentials, no such database, no such language
 */
export async function migrateWhenAvailable(
  url: string,
  searchLanguage: string,
  signal: AbortSignal,
  onWaiting: (cause: 'database' | 'migrations', line: string) => void,
): Promise<boolean> {
  const onLocked = (line: string): void => {
    onWaiting('migrations', line);
  };
  const isStopped = (): boolean => signal.aborted;
  for (let attempts = 0; !isStopped(); attempts += 1) {
    try {
      await migrate(url, { searchLanguage, signal, onWaiting: onLocked });
      return true;
    } catch (error) {
      if (isStopped()) return false;
      if (!isUnavailable(error)) throw error;
      const { code, message } = driverErrorOf(error);
      if (attempts === 0) onWaiting('database', `Waiting for the database: ${code ?? message}`);
    }
    await sleep(RETRY_INTERVAL, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

/** Whether the database may become available: not if it rejects the user or does not exist. */
function isUnavailable(error: unknown): boolean {
  const { code = '' } = driverErrorOf(error);
  // https://www.postgresql.org/docs/current/errcodes-appendix.html: classes 28 and 3D
  return databaseFailure(error) === 'unreachable' && !/^(28|3D)/.test(code);
}
