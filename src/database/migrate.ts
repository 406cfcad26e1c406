import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DataSource, MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { CommandError } from '../command-error.js';
import { applyMigration, type MigrationContext } from './apply-migration.js';
import { takeMigrationLock } from './migration-lock.js';
import { databaseOptions } from './options.js';
import { chooseSearchLanguage } from './search-language.js';
import { revertMigration } from './revert-migration.js';

/** The first migration of development versions, whose databases no migration leads away from. */
const DEVELOPMENT_MIGRATION = 'CreateCatalogue1763683200000';

type Migration = new () => MigrationInterface;

interface MigrateOptions {
  /** The language of searches in a new database. Default: `simple`. */
  readonly searchLanguage?: string;
  /** Called now and then with a line that says what is waited for. Default: prints to stderr. */
  readonly onWaiting?: (line: string) => void;
  /** Aborts: the migration in progress is rolled back, earlier ones stay applied. */
  readonly signal?: AbortSignal;
}

/**
 * Applies all pending migrations. If several processes start at once, one applies them and the
 * others wait for it. A migration does not wait long for a table lock, since readers would queue
 * behind it. It retries until it gets the lock; see `applyMigration`.
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
async function renameMetadata(runner: QueryRunner): Promise<void> {
  const [{ exists }] = (await runner.query(
    `SELECT to_regclass('typeorm_metadata') IS NOT NULL AS exists`,
  )) as [{ exists: boolean }];
  if (!exists) return;
  await runner.query(
    `UPDATE typeorm_metadata SET database = current_database() WHERE database <> current_database()`,
  );
}

/**
 * The migrations that are not applied yet. Only reads.
 *
 * @throws CommandError if the database is of a development version
 */
export async function pendingMigrations(dataSource: DataSource): Promise<Migration[]> {
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

/** The names of the applied migrations. */
async function appliedMigrations(dataSource: DataSource): Promise<string[]> {
  const [{ exists }] = await dataSource.query<[{ exists: boolean }]>(
    `SELECT to_regclass('migrations') IS NOT NULL AS exists`,
  );
  if (!exists) return [];
  const rows = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations');
  return rows.map(({ name }) => name);
}

/** Every migration of the folder, ordered by file name, which begins with a timestamp. */
export async function migrations(): Promise<Migration[]> {
  const folder = join(import.meta.dirname, 'migrations');
  const files = (await readdir(folder)).filter((file) => /^\d+-.*(?<!\.d)\.[jt]s$/.test(file));
  const modules = await Promise.all(
    files.sort().map((file) => import(pathToFileURL(join(folder, file)).href)),
  );
  return modules
    .flatMap((module) => Object.values(module as Record<string, unknown>))
    .filter((exported): exported is Migration => typeof exported === 'function');
}
