import type { QueryRunner } from 'typeorm';
import { CommandError } from '../command-error.js';
import { followColumns } from './follow-columns.js';
import { hasRows, lockOutWriters } from './installed-resource.js';
import { type MigrateOptions, withMigrationLock } from './migrate.js';
import { withShortLocks } from './migration-lock.js';

/** Migrations by which former versions changed the schema of the service itself. */
const OF_ENGINE: readonly string[] = [
  'KnownBaseline1764676800001',
  'InstallForOwner1795864500000',
  'LeaveExternalTables1795886100000',
  'DescribeTallies1795890000000',
];

/**
 * Takes back the migration that was applied last, and waits for locks as `migrate` does.
 *
 * @param destructive whether data may be lost
 * @returns its name
 * @throws CommandError if there is none, if its file is gone, or if data would be lost
 */
export function revertMigration(
  url: string,
  destructive: boolean,
  options: MigrateOptions,
): Promise<string> {
  return withMigrationLock(url, options, async (context) => {
    const { executor, runner } = context;
    const applied = await executor.getExecutedMigrations();
    const last = applied
      .filter(({ name }) => !OF_ENGINE.includes(name))
      .toSorted((one, other) => (one.id ?? 0) - (other.id ?? 0))
      .at(-1);
    if (!last) throw new CommandError('There is no migration to take back');
    const instance = runner.dataSource.migrations.find(
      (each) => (each.name ?? each.constructor.name) === last.name,
    );
    if (!instance) {
      throw new CommandError(`The file of ${last.name} is gone: bring it back to take it back`);
    }
    if (instance.transaction === false && !destructive) {
      throw new CommandError(
        `${last.name} has no transaction, so that what it loses cannot be seen: take it back with --destructive`,
      );
    }
    const revert = async (): Promise<void> => {
      const down = (): Promise<void> => followColumns(runner, () => instance.down(runner));
      if (!destructive) await checkLoss(runner, last.name, down);
      await down();
      await executor.deleteMigration(last);
    };
    await withShortLocks(last.name, context, revert, instance.transaction !== false);
    return last.name;
  });
}

/** Runs `down` on trial, and checks that what it drops is empty. */
async function checkLoss(
  runner: QueryRunner,
  name: string,
  down: () => Promise<void>,
): Promise<void> {
  const before = await dataColumns(runner);
  await runner.query('SAVEPOINT trial');
  await down();
  const after = new Set((await dataColumns(runner)).map(({ key }) => key));
  await runner.query('ROLLBACK TO SAVEPOINT trial');
  const lost: string[] = [];
  for (const { key, table, column } of before) {
    if (after.has(key)) continue;
    // The locks of the trial are gone: what a writer commits now would be lost unseen.
    await lockOutWriters(runner, table);
    if (await hasRows(runner.manager, `"${table}" WHERE "${column}" IS NOT NULL`)) {
      lost.push(`${table}.${column}`);
    }
  }
  if (lost.length === 0) return;
  throw new CommandError(
    `${name} would lose the values of ${lost.join(', ')}: take it back with --destructive`,
  );
}

interface DataColumn {
  /** Stays the same when table and column are renamed. */
  readonly key: string;
  readonly table: string;
  readonly column: string;
}

/** The columns whose values are data, not derived from other columns as those of tallies are. */
async function dataColumns(runner: QueryRunner): Promise<DataColumn[]> {
  return runner.manager.query<DataColumn[]>(
    `SELECT attrelid || ' ' || attnum AS key, relname AS table, attname AS column
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind = 'r'
     AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND atttypid <> 'tsvector'::regtype
     AND relname !~ '_tally(_|$)' AND relname NOT IN ('tallies', 'searches', 'resource_versions')
     ORDER BY attrelid, attnum`,
  );
}
