import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AppModule } from '../app.module.js';
import {
  EmbeddedPostgresError,
  type EmbeddedServer,
  embeddedServer,
} from '../../packages/embedded-postgres/index.js';
import { pendingMigrations } from '../database/migrate.js';
import { serverSettings } from '../database/server-settings.js';
import { CommandError } from '../command-error.js';
import { Settings } from '../settings/settings.js';

/**
 * The database of the settings: that of `DATABASE_URL`, or the embedded one, started if necessary.
 * The caller must release the embedded server.
 *
 * @param onNotice called with a line about the embedded server. Default: prints to standard error
 * @throws CommandError if the embedded server cannot run
 */
export async function openDatabase(
  settings: Settings,
  onNotice: (line: string) => void = console.error,
): Promise<{ url: string; embedded?: EmbeddedServer }> {
  if (settings.databaseUrl !== undefined) return { url: settings.databaseUrl };
  try {
    const options = { name: 'catalogue', settings: serverSettings(), onNotice };
    const embedded = await embeddedServer(settings.dataDir, options);
    return { url: embedded.url, embedded };
  } catch (error) {
    if (!(error instanceof EmbeddedPostgresError)) throw error;
    throw new CommandError(
      `${error.message}. Set DATA_DIR for another directory, or DATABASE_URL for another server`,
    );
  }
}

/** The settings for a command: queries have no time limit, and nothing for requests is set up. */
export function commandSettings(settings: Settings): Settings {
  return settings.with({
    poolSize: 2,
    queryTimeout: 0,
    pageCache: 0,
    replicaUrls: [],
    redisUrl: undefined,
  });
}

export function notMigrated(): CommandError {
  return new CommandError('The schema is not up to date: run catalogue migrate first');
}

/**
 * Runs a command with the application's providers on the database of the settings. A service may run
 * on the same database. Never migrates: a migration may drop what its operator still wants.
 *
 * @param options `requireMigrated: false` accepts pending migrations
 * @throws CommandError if migrations are pending
 */
export async function withCatalogue<T>(
  work: (catalogue: INestApplicationContext) => Promise<T>,
  { requireMigrated = true } = {},
): Promise<T> {
  const settings = new Settings(process.env);
  const { url, embedded } = await openDatabase(settings);
  try {
    const module = AppModule.forRoot(url, commandSettings(settings));
    const catalogue = await NestFactory.createApplicationContext(module, {
      abortOnError: false,
      // `run` prints an error once.
      logger: false,
    });
    try {
      if (requireMigrated && (await pendingMigrations(catalogue.get(DataSource))).length > 0) {
        throw notMigrated();
      }
      return await work(catalogue);
    } finally {
      await catalogue.close();
    }
  } finally {
    await embedded?.release();
  }
}
