import { escapeIdentifier } from 'pg';
import type { EntityManager, QueryRunner } from 'typeorm';
import { CommandError } from '../command-error.js';
import { driverErrorOf } from './database-failure.js';
import { hasTable, RECORDING_RESOURCES } from './installed-resource.js';

type Part = 'tally' | 'words' | 'deletions' | 'updated_at';

/** A column that a tally, words, deletions or the trigger for the time of changes names. */
interface NamedColumn {
  readonly resource: string;
  readonly part: Part;
  readonly name: string;
  /** Stays the same when the column is renamed; null if there is no such column. */
  readonly number: number | null;
  /** Type, length and collation. */
  readonly type: string;
  /** The file of the table. A migration that writes its rows, without their triggers, gives it another one. */
  readonly file: string | null;
}

/** The names that the columns of a resource have now; `undefined` for one that is gone. */
type Present = (name: string) => string | undefined;

const NAMED_COLUMNS = `
  WITH named AS (
    SELECT resource, 'tally' AS part, unnest(string_to_array(
      array_to_string(identifier || counted || sorted || searched || intervals, '+'), '+')) AS name FROM tallies
    UNION SELECT resource, 'words', unnest('words'::text || columns) FROM searches
    UNION SELECT resource, 'deletions', attname FROM (${RECORDING_RESOURCES}) recording
    JOIN pg_attribute ON attrelid = to_regclass(quote_ident(resource || '_deletions'))
    WHERE attnum > 0 AND NOT attisdropped AND attname <> 'deletedAt'
    UNION SELECT relname, 'updated_at',
      coalesce(nullif(split_part(encode(tgargs, 'escape'), '\\000', 1), ''), 'updatedAt')
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE relnamespace = quote_ident(current_schema())::regnamespace AND proname = 'keep_updated_at' AND tgname = relname || '_updated_at'
  )
  SELECT resource, part, name, attnum AS number, concat_ws(' ', atttypid, atttypmod, attcollation) AS type,
    pg_relation_filenode(attrelid)::text AS file
  FROM named LEFT JOIN pg_attribute
  ON attrelid = to_regclass(quote_ident(resource)) AND attname = name AND NOT attisdropped`;

/**
 * Runs a migration, and then installs again what names a column that it has changed, in the same transaction. So no writer
 * fails, and no count is wrong. A column that is gone is left out, until what the entities declare is installed.
 *
 * @throws CommandError if the migration leaves words without a text
 */
export async function followColumns(
  runner: QueryRunner,
  migrate: () => Promise<void>,
): Promise<void> {
  const { manager } = runner;
  const before = await namedColumns(manager);
  const removed = runner.isTransactionActive
    ? await withoutDependents(runner, migrate)
    : await migrate().then(() => []);
  const after = await namedColumns(manager);
  for (const part of ['updated_at', 'words', 'deletions', 'tally'] as const) {
    const named = before.filter((column) => column.part === part);
    for (const resource of new Set(named.map((column) => column.resource))) {
      const columns = named.filter((column) => column.resource === resource);
      const tally = removed.find((each) => part === 'tally' && each.resource === resource);
      if (!tally && !columns.some((column) => isChanged(column, after))) continue;
      const present = await presentColumns(manager, resource, columns);
      if (part === 'tally') await installTally(manager, resource, present, tally);
      else await INSTALL[part](manager, resource, present, columns);
    }
  }
}

/** Whether a part still names a column, which has another number, type or value. */
function isChanged(column: NamedColumn, after: readonly NamedColumn[]): boolean {
  const now = after.find(
    ({ resource, part, name }) =>
      resource === column.resource && part === column.part && name === column.name,
  );
  return (
    now !== undefined &&
    (now.number !== column.number || now.type !== column.type || now.file !== column.file)
  );
}

async function namedColumns(manager: EntityManager): Promise<NamedColumn[]> {
  // A new database has none.
  return (await hasTable(manager, 'tallies')) ? manager.query<NamedColumn[]>(NAMED_COLUMNS) : [];
}

async function presentColumns(
  manager: EntityManager,
  resource: string,
  before: readonly NamedColumn[],
): Promise<Present> {
  const rows = await manager.query<{ name: string; number: number }[]>(
    `SELECT attname AS name, attnum AS number FROM pg_attribute
     WHERE attrelid = to_regclass(quote_ident($1)) AND attnum > 0 AND NOT attisdropped`,
    [resource],
  );
  return (name) => {
    const { number } = before.find((column) => column.name === name) ?? {};
    const isNew = (row: { number: number }): boolean =>
      !before.some((column) => column.number === row.number);
    // One that is dropped and added has another number.
    const found =
      rows.find((row) => row.number === number) ??
      rows.find((row) => row.name === name && isNew(row));
    return found?.name;
  };
}

interface InstalledTally {
  readonly resource: string;
  readonly identifier: string;
  readonly counted: readonly string[];
  readonly sorted: readonly string[];
  readonly searched: readonly string[];
  readonly intervals: readonly string[];
}

const INSTALLED_TALLY =
  'SELECT resource, identifier, counted, sorted, searched, intervals FROM tallies';

/**
 * Runs a migration. If it would drop an enumeration that a tally is sorted by, the tally goes first.
 *
 * @returns the tallies that were removed
 */
async function withoutDependents(
  runner: QueryRunner,
  migrate: () => Promise<void>,
): Promise<InstalledTally[]> {
  await runner.query('SAVEPOINT migration');
  try {
    await migrate();
    return [];
  } catch (error) {
    // https://www.postgresql.org/docs/current/errcodes-appendix.html: dependent_objects_still_exist
    if (driverErrorOf(error).code !== '2BP01') throw error;
  }
  await runner.query('ROLLBACK TO SAVEPOINT migration');
  const tallies = await runner.manager.query<InstalledTally[]>(
    `${INSTALLED_TALLY} WHERE EXISTS (
       SELECT FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
       WHERE attrelid = to_regclass(quote_ident(resource)) AND attname = ANY(sorted) AND typtype = 'e'
     )`,
  );
  for (const { resource } of tallies) await runner.query('SELECT remove_tally($1)', [resource]);
  await migrate();
  return tallies;
}

async function installTally(
  manager: EntityManager,
  resource: string,
  present: Present,
  removed: InstalledTally | undefined,
): Promise<void> {
  const [installed] = await manager.query<InstalledTally[]>(
    `${INSTALLED_TALLY} WHERE resource = $1`,
    [resource],
  );
  const tally = installed ?? removed;
  const identifier = present(tally?.identifier ?? '');
  if (!tally || identifier === undefined) {
    await manager.query('SELECT remove_tally($1)', [resource]);
    return;
  }
  const { counted, sorted, searched, intervals } = tally;
  const columns = [counted, sorted, searched, intervals].map((names) =>
    names.flatMap((combined) => {
      const found = combined.split('+').map(present);
      return found.includes(undefined) ? [] : [found.join('+')];
    }),
  );
  await manager.query('SELECT install_tally($1, $2, $3, $4, $5, $6)', [
    resource,
    identifier,
    ...columns,
  ]);
}

async function installWords(
  manager: EntityManager,
  resource: string,
  present: Present,
  before: readonly NamedColumn[],
): Promise<void> {
  const [{ columns }] = await manager.query<[{ columns: string[] }]>(
    'SELECT columns FROM searches WHERE resource = $1',
    [resource],
  );
  if (present('words') !== 'words') {
    await manager.query('SELECT remove_words($1)', [resource]);
    return;
  }
  const remaining = columns.map(present).filter((name) => name !== undefined);
  if (remaining.length === 0) {
    throw new CommandError(
      `No text of the words of ${resource} is left: drop their column words in the same migration`,
    );
  }
  await manager.query('SELECT install_words($1, $2)', [resource, remaining]);
  // Texts that are gone, and texts that were written without their triggers, have left other words.
  const after = await namedColumns(manager);
  const file = after.find((column) => column.resource === resource)?.file;
  if (remaining.length < columns.length || before.some((column) => column.file !== file))
    await manager.query('SELECT rebuild_words($1)', [resource]);
}

async function installDeletions(
  manager: EntityManager,
  resource: string,
  present: Present,
): Promise<void> {
  const rows = await manager.query<{ name: string }[]>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = to_regclass(quote_ident($1)) AND attnum > 0 AND NOT attisdropped
     AND attname <> 'deletedAt' ORDER BY attnum`,
    [`${resource}_deletions`],
  );
  const names = rows.map(({ name }) => name);
  const [identifier, ...scoped] = names.map(present);
  if (identifier === undefined) {
    await manager.query('SELECT remove_deletions($1)', [resource]);
    return;
  }
  for (const name of names) {
    const renamed = present(name);
    if (renamed === undefined || renamed === name) continue;
    await manager.query(
      `ALTER TABLE ${escapeIdentifier(`${resource}_deletions`)} RENAME COLUMN ${escapeIdentifier(name)} TO ${escapeIdentifier(renamed)}`,
    );
  }
  await manager.query('SELECT install_deletions($1, $2, $3)', [
    resource,
    identifier,
    scoped.filter((name) => name !== undefined),
  ]);
}

/** The trigger for the time of changes, with the column that it sets. */
async function installUpdatedAt(
  manager: EntityManager,
  resource: string,
  present: Present,
  [named]: readonly NamedColumn[],
): Promise<void> {
  const trigger = escapeIdentifier(`${resource}_updated_at`);
  const column = present(named?.name ?? '');
  if (column === named?.name) return;
  await manager.query(
    column === undefined
      ? `DROP TRIGGER ${trigger} ON ${escapeIdentifier(resource)}`
      : `CREATE OR REPLACE TRIGGER ${trigger} BEFORE INSERT OR UPDATE ON ${escapeIdentifier(resource)}
         FOR EACH ROW EXECUTE FUNCTION keep_updated_at('${column.replaceAll("'", "''")}')`,
  );
}

const INSTALL = { updated_at: installUpdatedAt, words: installWords, deletions: installDeletions };
