import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AppModule } from '../app.module.js';
import { type EmbeddedServer, embeddedServer } from '../database/embedded/embedded-server.js';
import { migrate, pendingMigrations } from '../database/migrate.js';
import { CommandError } from '../command-error.js';
import { Settings } from '../settings/settings.js';

/** The database that the settings name: a given one, or the embedded one, started if need be. */
export async function openDatabase(
  settings: Settings,
): Promise<{ url: string; embedded?: EmbeddedServer }> {
  if (settings.databaseUrl !== undefined) return { url: settings.databaseUrl };
  const embedded = await embeddedServer(settings.dataDir, {
    onNotice: (notice) => {
      console.error(notice);
    },
  });
  return { url: embedded.url, embedded };
}

/** The settings for a command, whose queries have no time limit, and which serves no requests. */
export function commandSettings(settings: Settings): Settings {
  return settings.with({
    poolSize: 2,
    queryTimeout: 0,
    pageCache: 0,
    replicaUrls: [],
    redisUrl: undefined,
  });
}

/**
 * Does a command's work with the application's parts, on the database of the settings, also while
 * a service runs on it. The embedded database is migrated on the way; any other one belongs to an
 * operator, who does that by `catalogue migrate`.
 */
export async function withCatalogue<T>(
  work: (catalogue: INestApplicationContext) => Promise<T>,
): Promise<T> {
  const settings = new Settings(process.env);
  const { url, embedded } = await openDatabase(settings);
  try {
    if (embedded) await migrate(url);
    const module = AppModule.forRoot(url, commandSettings(settings));
    const catalogue = await NestFactory.createApplicationContext(module, {
      abortOnError: false,
      // What fails is told once, as the command's refusal.
      logger: false,
    });
    try {
      if ((await pendingMigrations(catalogue.get(DataSource))).length > 0) {
        throw new CommandError('The schema is not up to date: run catalogue migrate first');
      }
      return await work(catalogue);
    } finally {
      await catalogue.close();
    }
  } finally {
    await embedded?.release();
  }
}
