import { migrateWhenAvailable } from '../database/migrate-when-available.js';
import type { Settings } from '../settings/settings.js';
import { type Cause, openWaitingRoom } from './waiting-room.js';

/**
 * Waits for the database and migrates it. Where that takes a while, the waiting room answers.
 *
 * @returns false if it was stopped before
 * @throws CommandError if the waiting room cannot be opened
 */
export async function readyDatabase(
  url: string,
  settings: Settings,
  stop: AbortSignal,
): Promise<boolean> {
  const failed = new AbortController();
  let cause: Cause = 'database';
  let room: Promise<() => void> | undefined;
  const wait = (why: Cause, line: string): void => {
    console.error(line);
    cause = why;
    if (room) return;
    room = openWaitingRoom(settings, () => cause);
    room.catch((error: unknown) => {
      failed.abort(error);
    });
  };
  try {
    const isReady = await migrateWhenAvailable(url, AbortSignal.any([stop, failed.signal]), wait);
    failed.signal.throwIfAborted();
    return isReady;
  } finally {
    const leave = await room?.catch(() => undefined);
    leave?.();
  }
}
