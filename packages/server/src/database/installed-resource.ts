import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { CommandError } from '../command-error.js';

/** A query for the resources whose deletions are recorded, with the column `resource`. */
export const RECORDING_RESOURCES = `
  SELECT substr(proname, 6, length(proname) - 15) AS resource FROM pg_proc
  WHERE pronamespace = quote_ident(current_schema())::regnamespace AND proname ~ '^keep_.+_deletions$'`;

/** @param table its name in SQL */
export async function hasTable(manager: EntityManager, table: string): Promise<boolean> {
  const [{ exists }] = await manager.query<[{ exists: boolean }]>(
    'SELECT to_regclass($1) IS NOT NULL AS exists',
    [table],
  );
  return exists;
}

/** @param from a table, or a table with a condition, as in SQL */
export async function hasRows(
  queries: Pick<EntityManager, 'query'>,
  from: string,
): Promise<boolean> {
  const rows = await queries.query<unknown[]>(`SELECT FROM ${from} LIMIT 1`);
  return rows.length > 0;
}

/** Whether a resource has objects or deletions in tables of its own. It gets none until the end of the transaction. */
export async function hasContent(runner: QueryRunner, resource: string): Promise<boolean> {
  for (const table of [resource, `${resource}_deletions`]) {
    if (!(await hasTable(runner.manager, `"${table}"`))) continue;
    await lockOutWriters(runner, table);
    if (await hasRows(runner.manager, `"${table}"`)) return true;
  }
  return false;
}

/**
 * Checks that the table of a resource, if there is one, has no objects, and gets none until the end of the transaction.
 *
 * @throws CommandError if it has objects
 */
export async function checkWithoutObjects(runner: QueryRunner, resource: string): Promise<void> {
  if (!(await hasTable(runner.manager, `"${resource}"`))) return;
  await lockOutWriters(runner, resource);
  const [{ count }] = await runner.manager.query<[{ count: string }]>(
    `SELECT count(*) FROM "${resource}"`,
  );
  if (count === '0') return;
  throw new CommandError(
    `${resource}, which the code no longer has, has ${count} objects: ` +
      `delete them with catalogue drop ${resource} --destructive, then migrate again`,
  );
}

/** Waits for the writers of a table and keeps out others until the end of the transaction, but no readers. */
export async function lockOutWriters(runner: QueryRunner, table: string): Promise<void> {
  await runner.query(`LOCK TABLE "${table}" IN SHARE MODE`);
}

/**
 * Drops what the service installed for a resource: its table, tally, deletions, triggers and enumerations.
 *
 * @throws QueryFailedError if a table refers to it
 */
export async function dropResource(runner: QueryRunner, resource: string): Promise<void> {
  await runner.query('SELECT remove_deletions($1), remove_tally($1), remove_words($1)', [resource]);
  const enums = await runner.manager.query<{ name: string }[]>(
    `SELECT DISTINCT atttypid::regtype::text AS name FROM pg_attribute
     JOIN pg_type ON pg_type.oid = atttypid
     WHERE attrelid = to_regclass($1) AND NOT attisdropped AND typtype = 'e'
     AND NOT EXISTS (
       SELECT FROM pg_attribute other JOIN pg_class ON pg_class.oid = other.attrelid
       WHERE other.atttypid = pg_type.oid AND relkind IN ('r', 'p') AND other.attrelid <> to_regclass($1)
     )`,
    [`"${resource}"`],
  );
  await runner.query(`DROP TABLE IF EXISTS "${resource}"`);
  for (const { name } of enums) await runner.query(`DROP TYPE ${name}`);
}

// While an import has dropped the indexes of a table, it locks out readers. It has had a weaker lock since its checks, by which
// services know of it: they answer at once, and no request waits with a connection of the pool.

/** Locks out writers, and announces that readers are locked out next. Nothing else takes a lock of this mode. */
export const LOADING_MODE = 'EXCLUSIVE';

/** Which of these tables an import has locked, or is about to lock, against readers. Takes no lock. */
export async function loadingTables(
  dataSource: DataSource,
  tables: readonly string[],
): Promise<string[]> {
  const rows = await dataSource.query<{ name: string }[]>(
    `SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = relation
     WHERE mode = 'ExclusiveLock' AND granted AND locktype = 'relation'
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
     AND relnamespace = quote_ident(current_schema())::regnamespace AND relname = ANY($1)`,
    [tables],
  );
  return rows.map(({ name }) => name);
}
