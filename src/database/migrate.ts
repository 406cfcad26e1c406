import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  DataSource,
  type Migration,
  MigrationExecutor,
  type MigrationInterface,
  type QueryRunner,
} from 'typeorm';
import { CommandError } from '../command-error.js';
import { hasTable } from './installed-resource.js';
import { type LockContext, takeMigrationLock, withShortLocks } from './migration-lock.js';
import { databaseOptions } from './options.js';
import { replaceMigration } from './replaced-migration.js';
import { revertMigration } from './revert-migration.js';
import { chooseSearchLanguage } from './search-functions.js';

/** The first migration of development versions, whose databases no migration leads away from. */
const DEVELOPMENT_MIGRATION = 'CreateCatalogue1763683200000';

type MigrationClass = new () => MigrationInterface;

/** The runner is the executor's connection. */
export interface MigrationContext extends LockContext {
  readonly executor: MigrationExecutor;
}

interface MigrateOptions {
  /** The language of searches in a new database. Default: `simple`. */
  readonly searchLanguage?: string;
  /** Called now and then with a line that says what is waited for. Default: prints to stderr. */
  readonly onWaiting?: (line: string) => void;
  /** Aborts: the migration in progress is rolled back, earlier ones stay applied. */
  readonly signal?: AbortSignal;
}

/**
 * Applies all pending migrations. If several processes start at once, one applies them and the others wait for it.
 *
 * @returns the names of the applied migrations
 * @throws CommandError if the signal is aborted, or if the database does not have the language
 */
export function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  const { searchLanguage = 'simple' } = options;
  return withMigrationLock(url, options, async (context) => {
    await chooseSearchLanguage(context.runner, searchLanguage);
    const applied: string[] = [];
    for (const migration of await context.executor.getPendingMigrations()) {
      context.signal?.throwIfAborted();
      await applyMigration(migration, context);
      applied.push(migration.name);
    }
    await renameMetadata(context.runner);
    return applied;
  });
}

/**
 * Applies a migration in its own transaction. One with `transaction = false`, such as with `CREATE INDEX CONCURRENTLY`,
 * cannot be rolled back and waits for its locks.
 */
async function applyMigration(migration: Migration, context: MigrationContext): Promise<void> {
  const { executor, runner } = context;
  const apply = async (): Promise<void> => {
    if (await replaceMigration(migration, executor, runner)) return;
    await executor.executeMigration(migration);
  };
  await withShortLocks(migration.name, context, apply, migration.instance?.transaction !== false);
}

/**
 * Takes back the migration that was applied last, and waits for locks as `migrate` does.
 *
 * @param destructive whether data may be lost
 * @returns its name
 * @throws CommandError if there is none, if its file is gone, or if data would be lost
 */
export function migrateDown(
  url: string,
  destructive: boolean,
  options: MigrateOptions = {},
): Promise<string> {
  return withMigrationLock(url, options, (context) => revertMigration(context, destructive));
}

/** Runs work while no other process migrates. */
async function withMigrationLock<T>(
  url: string,
  { onWaiting = console.error, signal }: MigrateOptions,
  work: (context: MigrationContext) => Promise<T>,
): Promise<T> {
  const options = { ...databaseOptions(url), migrations: await migrations() };
  const dataSource = await new DataSource(options).initialize();
  // One connection for the lock and the migrations: if it is lost, both end.
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  try {
    await takeMigrationLock({ runner, onWaiting, signal });
    await refuseDevelopmentVersion(dataSource);
    return await work({ executor, runner, onWaiting, signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
    throw new CommandError('Interrupted before all migrations were taken');
  } finally {
    // Closing the connection releases the lock.
    await runner.release();
    await dataSource.destroy();
  }
}

/**
 * TypeORM finds the expression of a generated column by the name of the database, which differs after a
 * restore into another one.
 */
async function renameMetadata({ manager }: QueryRunner): Promise<void> {
  if (!(await hasTable(manager, 'typeorm_metadata'))) return;
  await manager.query(
    `UPDATE typeorm_metadata SET database = current_database() WHERE database <> current_database()`,
  );
}

/** @throws CommandError if the database is of a development version */
export async function pendingMigrations(dataSource: DataSource): Promise<MigrationClass[]> {
  await refuseDevelopmentVersion(dataSource);
  const applied = await appliedMigrations(dataSource);
  return (await migrations()).filter(({ name }) => !applied.includes(name));
}

/** @throws CommandError if the database is of a development version */
async function refuseDevelopmentVersion(dataSource: DataSource): Promise<void> {
  if (!(await appliedMigrations(dataSource)).includes(DEVELOPMENT_MIGRATION)) return;
  throw new CommandError(
    'The database is of a development version of the service, which this one cannot migrate: ' +
      'export each resource with the version that it is of (catalogue export), and import the files into a new database',
  );
}

async function appliedMigrations(dataSource: DataSource): Promise<string[]> {
  if (!(await hasTable(dataSource.manager, 'migrations'))) return [];
  const rows = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations');
  return rows.map(({ name }) => name);
}

/** Every migration of the folder, ordered by file name, which begins with a timestamp. */
export async function migrations(): Promise<MigrationClass[]> {
  const folder = join(import.meta.dirname, 'migrations');
  const files = (await readdir(folder)).filter((file) => /^\d+-.*(?<!\.d)\.[jt]s$/.test(file));
  const modules = await Promise.all(
    files.sort().map((file) => import(pathToFileURL(join(folder, file)).href)),
  );
  return modules
    .flatMap((module) => Object.values(module as Record<string, unknown>))
    .filter((exported): exported is MigrationClass => typeof exported === 'function');
}
