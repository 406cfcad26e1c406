import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';
import { isLockTimeout } from '../database/database-failure.js';
import { hasRows, LOADING_MODE } from '../database/installed-resource.js';

/** Minimum kilobytes of memory to sort the entries of an index in. */
const MEMORY = 256 * 1024;

/**
 * Locks a table of few objects against writers, if the role may drop and create its indexes. Services then answer that it
 * cannot be read: see `loadingTables`.
 *
 * @param table quoted
 * @param most number of objects
 * @returns whether it is locked: it is not if it has more objects, or if others use it for long
 */
export async function lockIfSmall(
  runner: QueryRunner,
  table: string,
  most: number,
): Promise<boolean> {
  const isSmall = async () => !(await hasRows(runner.manager, `${table} OFFSET ${most}`));
  if (!(await isSmall()) || !(await mayReplaceIndexes(runner, table))) return false;
  await runner.query('SAVEPOINT unlocked');
  // A writer may have inserted rows before it was locked out.
  if ((await lockBriefly(runner, table, LOADING_MODE)) && (await isSmall())) return true;
  await unlock(runner);
  return false;
}

/**
 * Writes rows into a table that `lockIfSmall` has locked, with no indexes but those that refuse rows, and builds the
 * others afterwards, which takes a fraction of the time of adding rows to them. Readers are locked out.
 *
 * @returns undefined if some read for long: nothing is written, and no lock is held then
 */
export async function writeWithoutIndexes<T>(
  runner: QueryRunner,
  table: string,
  write: () => Promise<T>,
): Promise<T | undefined> {
  if (!(await lockBriefly(runner, table, 'ACCESS EXCLUSIVE'))) {
    await unlock(runner);
    return undefined;
  }
  await runner.query('RELEASE SAVEPOINT unlocked');
  await runner.query(
    `SELECT set_config(name, greatest(setting::integer, $1) || unit, true)
     FROM pg_settings WHERE name = 'maintenance_work_mem'`,
    [MEMORY],
  );
  const indexes = await runner.manager.query<{ name: string; definition: string }[]>(
    REPLACEABLE_INDEXES,
    [table],
  );
  for (const { name } of indexes) await runner.query(`DROP INDEX ${name}`);
  const result = await write();
  for (const { definition } of indexes) await runner.query(definition);
  await runner.query(`ANALYZE ${table}`);
  return result;
}

/** Releases the locks since the savepoint. */
async function unlock(runner: QueryRunner): Promise<void> {
  await runner.query('ROLLBACK TO SAVEPOINT unlocked');
  await runner.query('RELEASE SAVEPOINT unlocked');
}

/** Milliseconds of the attempts to get a lock, and before the next one. Below `deadlock_timeout`, usually a second. */
const LOCK_TIMEOUTS = [50, 100, 200, 400, 800, 800];

/**
 * Locks a table in the open transaction, without holding up others for long.
 *
 * @returns false if others held their locks for longer
 */
async function lockBriefly(runner: QueryRunner, table: string, mode: string): Promise<boolean> {
  for (const timeout of LOCK_TIMEOUTS) {
    await runner.query('SAVEPOINT lock_briefly');
    try {
      await runner.query(`SET LOCAL lock_timeout = ${timeout}`);
      await runner.query(`LOCK TABLE ${table} IN ${mode} MODE`);
      await runner.query('SET LOCAL lock_timeout = 0');
      return true;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
    }
    await runner.query('ROLLBACK TO SAVEPOINT lock_briefly');
    await sleep(timeout);
  }
  return false;
}

async function mayReplaceIndexes(runner: QueryRunner, table: string): Promise<boolean> {
  const [{ may }] = await runner.manager.query<[{ may: boolean }]>(
    `SELECT pg_has_role(relowner, 'USAGE') AND has_schema_privilege(relnamespace, 'CREATE') AS may
     FROM pg_class WHERE oid = $1::regclass`,
    [table],
  );
  return may;
}

/**
 * The indexes of a table that `pg_get_indexdef` describes whole, and that refuse no row, in the order in which they were
 * created: the planner prefers the first of equal ones. Others have a comment, a tablespace, statistics targets or a mark
 * of their own.
 */
const REPLACEABLE_INDEXES = `
  SELECT indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS definition
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE indrelid = $1::regclass AND indisvalid AND NOT indisunique AND NOT indisexclusion
  AND NOT indisclustered AND NOT indisreplident AND reltablespace = 0
  AND obj_description(indexrelid, 'pg_class') IS NULL
  AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = indexrelid AND attstattarget >= 0)
  ORDER BY indexrelid`;
