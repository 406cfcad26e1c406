import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { DataSource, MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { CommandError } from '../command-error.js';
import { applyMigration } from './apply-migration.js';
import { databaseOptions } from './options.js';

/** The advisory lock under which migrations run: any number, as long as it is always this one. */
const MIGRATION_LOCK = 7_264_001;

type Migration = new () => MigrationInterface;

/** Milliseconds between two tries to get it. */
const TURN_EVERY = 250;
/** Milliseconds after which it is told that another one has it, and again. */
const TELL_AFTER = 2000;

export interface MigrateOptions {
  /** Told in a line, now and then, what it waits for; by default written to stderr. */
  readonly onWaiting?: (line: string) => void;
  /** Ends it: the migration under way is rolled back, those before it stay. */
  readonly signal?: AbortSignal;
}

/**
 * Brings the schema up to date and gives the names of the migrations that it took. Of several that
 * start at once one does the work and the others wait for it. It never waits long for a lock on a
 * table, since readers would queue behind it: it tries again until it gets the lock.
 *
 * @throws CommandError if the signal ended it
 */
export async function migrate(
  url: string,
  { onWaiting = console.error, signal }: MigrateOptions = {},
): Promise<string[]> {
  const options = { ...databaseOptions(url), migrations: await migrations() };
  const dataSource = await new DataSource(options).initialize();
  // The same connection for the lock and the migrations: without the lock there are none.
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  const taken: string[] = [];
  try {
    await takeTurn(runner, onWaiting, signal);
    for (const migration of await executor.getPendingMigrations()) {
      signal?.throwIfAborted();
      await applyMigration(migration, { executor, runner, onWaiting, signal });
      taken.push(migration.name);
    }
    return taken;
  } catch (error) {
    if (!signal?.aborted) throw error;
    throw new CommandError('Interrupted before all migrations were taken');
  } finally {
    // The lock ends with its connection.
    await runner.release();
    await dataSource.destroy();
  }
}

/**
 * Waits until no other one migrates. By asking now and then: a statement that waits would hold a
 * snapshot, for which `CREATE INDEX CONCURRENTLY` in the other one's migrations waits in turn.
 */
async function takeTurn(
  runner: QueryRunner,
  onWaiting: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  let next = performance.now() + TELL_AFTER;
  for (;;) {
    signal?.throwIfAborted();
    const [{ taken }] = (await runner.query('SELECT pg_try_advisory_lock($1) AS taken', [
      MIGRATION_LOCK,
    ])) as [{ taken: boolean }];
    if (taken) return;
    if (performance.now() > next) {
      onWaiting(`Waiting for another process to migrate: ${await holder(runner)}`);
      next += 5 * TELL_AFTER;
    }
    await sleep(TURN_EVERY, undefined, { signal });
  }
}

/** The session that has the lock. */
async function holder(runner: QueryRunner): Promise<string> {
  // https://www.postgresql.org/docs/current/view-pg-locks.html: a bigint key in two halves
  const rows = (await runner.query(
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
     AND classid = 0 AND objid = $1
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [MIGRATION_LOCK],
  )) as { pid: number }[];
  return rows.map(({ pid }) => `pid ${pid}`).join();
}

/** The names of the migrations that a database still lacks. Changes nothing. */
export async function pendingMigrations(dataSource: DataSource): Promise<string[]> {
  const [{ exists }] = await dataSource.query<[{ exists: boolean }]>(
    `SELECT to_regclass('migrations') IS NOT NULL AS exists`,
  );
  const taken = exists
    ? await dataSource.query<{ name: string }[]>('SELECT name FROM migrations')
    : [];
  const names = (await migrations()).map(({ name }) => name);
  return names.filter((name) => !taken.some((migration) => migration.name === name));
}

/** Every migration in the folder, in the order of their file names, which begin with their time. */
async function migrations(): Promise<Migration[]> {
  const folder = join(import.meta.dirname, 'migrations');
  const files = (await readdir(folder)).filter((file) => /^\d+-.*(?<!\.d)\.[jt]s$/.test(file));
  const modules = await Promise.all(
    files.sort().map((file) => import(pathToFileURL(join(folder, file)).href)),
  );
  return modules.flatMap((module) => Object.values(module as Record<string, Migration>));
}
