import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DataSource, type MigrationInterface } from 'typeorm';
import { databaseOptions } from './options.js';

/** The advisory lock under which migrations run: any number, as long as it is always this one. */
const MIGRATION_LOCK = 7_264_001;

type Migration = new () => MigrationInterface;

/**
 * Brings the schema up to date and gives the names of the migrations that it took. Of several that
 * start at once one does the work and the others wait for it.
 */
export async function migrate(url: string): Promise<string[]> {
  const options = { ...databaseOptions(url), migrations: await migrations() };
  const dataSource = await new DataSource(options).initialize();
  const lock = dataSource.createQueryRunner();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const taken = await dataSource.runMigrations({ transaction: 'each' });
    return taken.map(({ name }) => name);
  } finally {
    // The lock ends with its connection.
    await lock.release();
    await dataSource.destroy();
  }
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
