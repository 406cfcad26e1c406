import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DataSource } from 'typeorm';
import { databaseFailure, driverErrorOf, ReadOnlyError } from '../database/database-failure.js';
import { CommandError } from '../command-error.js';
import { createApplication } from '../application.js';
import { writeStartLine } from '../operations/start-line.js';
import { installedLine } from '../schema/install-parts.js';
import { migrate } from '../schema/migrate.js';
import { migrationsOf, type Project } from '../project.js';
import type { Settings } from '../settings/settings.js';
import { openStartupServer, type UnreadyReason } from './startup-server.js';

/** Milliseconds between two attempts. */
const RETRY_PERIOD = 500;

type OnWaiting = (reason: UnreadyReason, line: string) => void;

/**
 * Migrates the database as soon as it accepts connections: it may start after the service. If that takes
 * time, a startup server responds to requests meanwhile.
 *
 * @returns the application on the database, which is not listening yet; `undefined` if the signal was aborted before
 * @throws CommandError if the startup server cannot listen, or for declarations that no list can follow
 * @throws Error at once if it cannot succeed: wrong credentials, no such database, no such language
 */
export async function prepareDatabase(
  project: Project,
  url: string,
  settings: Settings,
  stop: AbortSignal,
): Promise<NestExpressApplication | undefined> {
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
    const application = await migrateWhenAvailable(project, url, settings, signal, onWaiting);
    if (failed.signal.aborted) await application?.close();
    failed.signal.throwIfAborted();
    return application;
  } finally {
    const close = await server?.catch(() => undefined);
    close?.();
  }
}

/** @returns `undefined` if the signal was aborted before */
async function migrateWhenAvailable(
  project: Project,
  url: string,
  settings: Settings,
  signal: AbortSignal,
  onWaiting: OnWaiting,
): Promise<NestExpressApplication | undefined> {
  const migrations = await migrationsOf(project);
  const isStopped = (): boolean => signal.aborted;
  for (let attempts = 0; !isStopped(); attempts += 1) {
    let application: NestExpressApplication | undefined;
    try {
      const { installed } = await migrate(url, {
        migrations,
        searchLanguage: settings.searchLanguage,
        signal,
        onWaiting: (line) => {
          onWaiting('migrations', line);
        },
        declared: async () => {
          application = await createApplication(project, url, settings);
          return application.get(DataSource);
        },
      });
      for (const part of installed) writeStartLine('info', installedLine(part));
      return application;
    } catch (error) {
      await application?.close();
      if (isStopped()) return undefined;
      if (!isUnavailable(error)) throw error;
      const { code, message } = driverErrorOf(error);
      if (attempts === 0) onWaiting('database', `Waiting for the database: ${code ?? message}`);
    }
    await sleep(RETRY_PERIOD, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/** Whether the database may become available: not if it rejects the user, does not exist, or shares sessions. */
function isUnavailable(error: unknown): boolean {
  if (error instanceof CommandError) return false;
  // A standby may become the primary.
  if (error instanceof ReadOnlyError) return true;
  const { code = '' } = driverErrorOf(error);
  // https://www.postgresql.org/docs/current/errcodes-appendix.html: classes 28 and 3D
  return databaseFailure(error) === 'unreachable' && !/^(28|3D)/.test(code);
}
