import { DataSource, MigrationExecutor } from 'typeorm';
import { CommandError } from '../command-error.js';
import type { MigrationClass } from '../project.js';
import { driverErrorOf, ReadOnlyError } from './database-failure.js';
import { pendingSteps, requireSearchLanguage, updateEngine } from './engine.js';
import { followColumns } from './follow-columns.js';
import { hasTable } from './installed-resource.js';
import { type LockContext, takeMigrationLock, withShortLocks } from './migration-lock.js';
import { databaseOptions } from './database-client.js';

/** The runner is the executor's connection. */
interface MigrationContext extends LockContext {
  readonly executor: MigrationExecutor;
}

export interface MigrateOptions {
  /** Those of the project. */
  readonly migrations: readonly MigrationClass[];
  /** Called now and then with a line that says what is waited for. Default: prints to stderr. */
  readonly onWaiting?: (line: string) => void;
  /** Aborts: the migration in progress is rolled back, earlier ones stay applied. */
  readonly signal?: AbortSignal;
}

/**
 * Brings the schema of the service itself up to date, and applies all pending migrations of the project.
 *
 * @param searchLanguage of the words of a new database
 * @returns the names of what was applied
 * @throws CommandError if the signal is aborted, if the database does not have the language, or if a migration creates
 * what is there
 * @throws ReadOnlyError before it changes anything
 */
export async function applyMigrations(
  context: MigrationContext,
  searchLanguage: string,
): Promise<string[]> {
  const { executor, runner, signal } = context;
  const [{ isReadOnly }] = (await runner.query(
    `SELECT current_setting('transaction_read_only')::boolean AS "isReadOnly"`,
  )) as [{ isReadOnly: boolean }];
  if (isReadOnly) throw new ReadOnlyError();
  await requireSearchLanguage(runner.manager, searchLanguage);
  const applied: string[] = [];
  const update = async (): Promise<void> => {
    applied.push(...(await updateEngine(runner, searchLanguage)).map(engineName));
  };
  await withShortLocks('The schema of the service', context, update);
  for (const migration of await executor.getPendingMigrations()) {
    signal?.throwIfAborted();
    const { name, instance } = migration;
    const apply = (): Promise<void> =>
      followColumns(runner, async () => {
        await executor.executeMigration(migration).catch((error: unknown) => {
          throw remedied(name, error);
        });
      });
    // One without a transaction, such as with `CREATE INDEX CONCURRENTLY`, waits for its locks.
    await withShortLocks(name, context, apply, instance?.transaction !== false);
    applied.push(name);
  }
  await runner.query(RENAMED_METADATA);
  return applied;
}

/** TypeORM finds the expression of a generated column by the name of the database, which a restore or a copy changes. */
export const RENAMED_METADATA = `DO $$ BEGIN
  IF to_regclass('typeorm_metadata') IS NOT NULL THEN
    UPDATE typeorm_metadata SET database = current_database() WHERE database <> current_database();
  END IF;
END $$`;

// https://www.postgresql.org/docs/current/errcodes-appendix.html: duplicate_table, duplicate_object
const ALREADY_THERE = ['42P07', '42710'];

/** The error of a migration; one that says what to do if a table or a type is there already. */
function remedied(name: string, error: unknown): unknown {
  const { code = '', message } = driverErrorOf(error);
  if (!ALREADY_THERE.includes(code)) return error;
  return new CommandError(
    `${name} fails, since ${message}: rename that, or, if a migration whose file is gone has created it, run catalogue drop <resource>`,
  );
}

/** Runs work while no other process migrates. */
export async function withMigrationLock<T>(
  url: string,
  { migrations, onWaiting = console.error, signal }: MigrateOptions,
  work: (context: MigrationContext) => Promise<T>,
): Promise<T> {
  const options = { ...databaseOptions(url), migrations: [...migrations] };
  const dataSource = await new DataSource(options).initialize();
  // One connection for the lock and the migrations: if it is lost, both end.
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  try {
    await takeMigrationLock({ runner, onWaiting, signal });
    await appliedMigrations(dataSource);
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
 * The names of what `migrate` would apply, in this order.
 *
 * @param migrations the names of those of the project. Default: those of the data source
 * @throws CommandError if this version does not know the baseline of the database
 */
export async function pendingMigrations(
  dataSource: DataSource,
  migrations = migrationNames(dataSource),
): Promise<string[]> {
  const applied = await appliedMigrations(dataSource);
  return [
    ...(await pendingSteps(dataSource.manager)).map(engineName),
    ...migrations.filter((name) => !applied.includes(name)),
  ];
}

/** By what an operator calls a step of the schema of the service. */
function engineName(step: string): string {
  return `engine ${step}`;
}

/** @throws CommandError if this version does not know the baseline of the database */
async function appliedMigrations(dataSource: DataSource): Promise<string[]> {
  if (!(await hasTable(dataSource.manager, 'migrations'))) return [];
  const rows = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations');
  const names = rows.map(({ name }) => name);
  if (names.length === 0 || (await hasKnownBaseline(dataSource, names))) return names;
  throw new CommandError(
    'The schema of the database is of a version of the service that this one does not know: ' +
      'export each resource with that version (catalogue export), and import the files into a new database',
  );
}

/**
 * The names of the migrations of the project, in the order in which they are applied.
 *
 * @throws Error as `migrate`: if two have one name, or one has no timestamp
 */
export function migrationNames(dataSource: DataSource): string[] {
  return new KnownMigrations(dataSource).names();
}

class KnownMigrations extends MigrationExecutor {
  names(): string[] {
    return this.getMigrations().map(({ name }) => name);
  }
}

/** Created the schema. Before it was marked, versions changed it under one name. */
const BASELINE = 'Baseline1764676800000';

/** Marked a database whose baseline this version knows. */
const MARK = 'KnownBaseline1764676800001';

/** The columns of an unmarked baseline, by its tables. Those of former versions lack some. */
const COLUMNS = {
  clients: 'clientID name disabled rateLimit resources hidden isPublic createdAt',
  access_tokens: 'tokenID clientID hash expiresAt createdAt',
  searches: 'resource columns',
  tallies: 'resource identifier counted cuts sorted searched intervals',
  resource_versions: 'resource stamp writer folded_in',
  watermark: 'until next_until next_id history database timeline log_position former',
};

/**
 * Whether this version knows the baseline of a database. The migrations of later versions do not matter: an instance
 * of this version may start on their schema. Nor do further columns: the baseline applies the files of functions, which
 * may add some, before the database is marked.
 *
 * @param applied the names of its migrations
 */
async function hasKnownBaseline(
  dataSource: DataSource,
  applied: readonly string[],
): Promise<boolean> {
  if (applied.includes(MARK) || (await hasTable(dataSource.manager, 'engine'))) return true;
  if (!applied.includes(BASELINE)) return false;
  const [{ known }] = await dataSource.query<[{ known: boolean }]>(
    `SELECT NOT EXISTS (
       SELECT FROM jsonb_each_text($1) AS tables(name, columns), unnest(string_to_array(columns, ' ')) AS needed(attname)
       WHERE NOT EXISTS (
         SELECT FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
         WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relname = name
         AND pg_attribute.attname = needed.attname AND NOT attisdropped
       )
     ) AS known`,
    [JSON.stringify(COLUMNS)],
  );
  return known;
}
