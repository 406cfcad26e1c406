import type { EntityManager, QueryRunner } from 'typeorm';
import { CommandError } from '../command-error.js';

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
  { manager }: QueryRunner,
  from: string,
  values?: unknown[],
): Promise<boolean> {
  const rows = await manager.query<unknown[]>(`SELECT FROM ${from} LIMIT 1`, values);
  return rows.length > 0;
}

/** Whether a resource has objects or deletions in tables of its own. It gets none until the end of the transaction. */
export async function hasContent(runner: QueryRunner, resource: string): Promise<boolean> {
  for (const table of [resource, `${resource}_deletions`]) {
    if (!(await hasTable(runner.manager, `"${table}"`))) continue;
    await lockOutWriters(runner, table);
    if (await hasRows(runner, `"${table}"`)) return true;
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
 * @param cascade whether the foreign keys of other tables are dropped, too
 * @throws QueryFailedError if a table refers to it and `cascade` is false
 */
export async function dropResource(
  runner: QueryRunner,
  resource: string,
  { cascade = false } = {},
): Promise<void> {
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
  await runner.query(`DROP TABLE IF EXISTS "${resource}"${cascade ? ' CASCADE' : ''}`);
  for (const { name } of enums) await runner.query(`DROP TYPE ${name}`);
}

/** What the service installed for a resource, as a text that is equal for equal tables. */
export async function definitionOf(runner: QueryRunner, resource: string): Promise<string> {
  const [{ definition }] = await runner.manager.query<[{ definition: string }]>(
    `SELECT string_agg(line, E'\\n' ORDER BY line COLLATE "C") AS definition FROM (
       SELECT concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attcollation::regcollation,
         attnotnull, attgenerated, pg_get_expr(adbin, adrelid), (
           SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = atttypid
         )) AS line
       FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
       LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
       WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
       AND (relname = $2 OR relname ~ ('^' || $2 || '_(tally|deletions)')) AND attnum > 0 AND NOT attisdropped
       UNION ALL SELECT concat_ws(' ', 'constraint', conname, pg_get_constraintdef(oid))
       FROM pg_constraint WHERE conrelid = to_regclass($1)
       UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = to_regclass($1)
       UNION ALL SELECT concat_ws(' ', pg_get_triggerdef(pg_trigger.oid), tgenabled, prosrc)
       FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
       WHERE tgrelid = to_regclass($1) AND NOT tgisinternal
       UNION ALL SELECT concat_ws(' ', 'tally', to_jsonb(tallies) - 'cuts')
       FROM tallies WHERE resource = $2
     ) lines`,
    [`"${resource}"`, resource],
  );
  return definition;
}
