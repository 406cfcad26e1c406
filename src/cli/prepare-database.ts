import { setTimeout as sleep } from 'node:timers/promises';
import { databaseFailure, driverErrorOf } from '../database/database-failure.js';
import { migrate } from '../database/migrate.js';
import { writeStartLine } from '../operations/start-line.js';
import type { Settings } from '../settings/settings.js';
import { openStartupServer, type UnreadyReason } from './startup-server.js';

/** Milliseconds between two attempts. */
const RETRY_INTERVAL = 500;

type OnWaiting = (reason: UnreadyReason, line: string) => void;

/**
 * Migrates the database as soon as it accepts connections: it may start after the service. If that takes
 * time, a startup server responds to requests meanwhile.
 *
 * @returns false if the signal was aborted before
 * @throws CommandError if the startup server cannot listen
 * @throws Error at once if it cannot succeed: wrong credentials, no such database, no such language
 */
export async function prepareDatabase(
  url: string,
  settings: Settings,
  stop: AbortSignal,
): Promise<boolean> {
  const failed = new AbortController();
  let reason: UnreadyReason = 'database';
  let server: Promise<() => void> | undefined;
  const onWaiting: OnWaiting = (newReason, line) => {
    writeStartLine('warn', line);
    reason = newReason;
    if (server) return;
    server = openStartupServer(settings, () => reason);
    server.catch((error: unknown) => {
      failed.abort(error);
    });
  };
  try {
    const signal = AbortSignal.any([stop, failed.signal]);
    const isReady = await migrateWhenAvailable(url, settings, signal, onWaiting);
    failed.signal.throwIfAborted();
    return isReady;
  } finally {
    const close = await server?.catch(() => undefined);
    close?.();
  }
}

/** @returns false if the signal was aborted before */
async function migrateWhenAvailable(
  url: string,
  { searchLanguage }: Settings,
  signal: AbortSignal,
  onWaiting: OnWaiting,
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
