import { migrateWhenAvailable } from '../database/migrate-when-available.js';
import { writeStartLine } from '../operations/service-logger.js';
import type { Settings } from '../settings/settings.js';
import { openStartupServer, type UnreadyReason } from './startup-server.js';

/**
 * Waits for the database and migrates it. If that takes time, a startup server responds to requests
 * meanwhile.
 *
 * @returns false if the signal was aborted before
 * @throws CommandError if the startup server cannot listen
 */
export async function prepareDatabase(
  url: string,
  settings: Settings,
  stop: AbortSignal,
): Promise<boolean> {
  const failed = new AbortController();
  let reason: UnreadyReason = 'database';
  let server: Promise<() => void> | undefined;
  const onWaiting = (newReason: UnreadyReason, line: string): void => {
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
    const isReady = await migrateWhenAvailable(url, settings.searchLanguage, signal, onWaiting);
    failed.signal.throwIfAborted();
    return isReady;
  } finally {
    const close = await server?.catch(() => undefined);
    close?.();
  }
}
