import type { DataSource, EntityMetadata } from 'typeorm';
import { CommandError } from '../command-error.js';
import { listTableOf } from '../resource/carried-columns.js';
import { createIndex, listIndexes } from '../resource/list-indexes.js';
import { readTracking } from '../list/tally/tracking.js';
import {
  type ExternalTable,
  externalTableOf,
  nameOf,
  ownResourcesOf,
  resourcesOf,
} from '../resource/resource.js';
import {
  countsAsDeclared,
  createUpdatedAtTrigger,
  dropIndex,
  installDeletions,
  installTally,
  TALLY_COLUMNS,
  type TallyColumns,
  tallyColumnsOf,
  trackTable,
  trackTableAgain,
  untrackTable,
} from './install-statements.js';
import { listIndexChanges } from './list-indexes.js';
import { recordedColumnsOf } from './recorded-columns.js';
import { type Changes, schemaChanges } from './schema-changes.js';
import { isWider } from './statement-corrections.js';
import { isAsDeclared } from './tracking-differences.js';

/** The statements that bring tables, indexes, triggers and tallies in line with the entities. Only reads. */
export async function migrationChanges(dataSource: DataSource): Promise<Changes> {
  const changes = await schemaChanges(dataSource);
  const [up, down] = [[...changes.up], [...changes.down]];
  for (const [{ tableName: table }, { missing, surplus }] of await listIndexChanges(dataSource)) {
    // Before a column of theirs is dropped.
    up.unshift(...surplus.map(dropIndex));
    up.push(...missing.map((index) => createIndex(table, index)));
    down.unshift(...missing.map(dropIndex));
    down.push(...surplus.map((index) => createIndex(table, index)));
  }
  const recorded = await recordedColumnsOf(dataSource);
  for (const metadata of ownResourcesOf(dataSource).values()) {
    const { tableName: table } = metadata;
    const recreated = indexesOfRecreatedColumns(metadata, changes.up).filter(
      (index) => !up.includes(index),
    );
    up.push(...recreated);
    down.push(...recreated);
    if (metadata.updateDateColumn && !(await hasTrigger(dataSource, table))) {
      up.push(createUpdatedAtTrigger(metadata));
    }
    const deletions = recorded.get(table);
    if (!deletions?.areAsDeclared) {
      up.push(installDeletions(metadata));
      down.unshift(
        deletions
          ? installDeletions(metadata, deletions.installed)
          : `SELECT remove_deletions('${table}')`,
      );
    }
    const [installed] = await dataSource.query<TallyColumns[]>(
      `SELECT ${TALLY_COLUMNS.join()} FROM tallies WHERE resource = $1`,
      [table],
    );
    const declared = tallyColumnsOf(metadata);
    const isSame = installed !== undefined && countsAsDeclared(installed, declared);
    const searched = await searchedColumns(dataSource, table);
    const ways = [
      { statements: up, former: installed, next: declared },
      { statements: down, former: declared, next: installed },
    ];
    for (const { statements, former, next } of ways) {
      const retyped = retypedColumns(statements, table);
      if (retyped.some((column) => searched.includes(column))) {
        // No type of a column changes that a trigger names.
        statements.unshift(`SELECT remove_words('${table}')`);
        statements.push(`SELECT install_words('${table}', '{${searched.join()}}')`);
      }
      // Its tables have columns of the same types.
      const isRetyped = retyped.some((column) => talliedColumns(former).includes(column));
      if (isSame && !isRetyped) continue;
      if (former && (isRetyped || !next)) {
        statements.unshift(`SELECT remove_tally('${table}')`);
      }
      // At the end, where its columns have the names that it counts by.
      if (next) statements.push(installTally(metadata, next));
    }
  }
  for (const [metadata, external] of externalTablesOf(dataSource)) {
    const found = await readTracking(dataSource, nameOf(metadata));
    const { tracked = false } = external;
    if (tracked ? found && isAsDeclared(metadata, external, found) : !found) continue;
    const untrack = untrackTable(nameOf(metadata));
    up.push(tracked ? trackTable(metadata, external) : untrack);
    down.unshift(found ? trackTableAgain(nameOf(metadata), found) : untrack);
  }
  return { up, down };
}

/** The resources over tables of others, with their tables. */
function externalTablesOf(dataSource: DataSource): [EntityMetadata, ExternalTable][] {
  return [...resourcesOf(dataSource).values()].flatMap((metadata) => {
    const external = externalTableOf(metadata);
    return external ? [[metadata, external] as [EntityMetadata, ExternalTable]] : [];
  });
}

/** Every column of a tally. */
function talliedColumns(tally: TallyColumns | undefined): string[] {
  return [...(tally?.counted ?? []), ...(tally?.sorted ?? []), ...(tally?.ranges ?? [])].flatMap(
    (names) => names.split('+'),
  );
}

/** The columns of a table that statements give another type, or drop and add. */
function retypedColumns(statements: readonly string[], table: string): string[] {
  const columns = statements.flatMap((statement) => {
    const [, of, column] = /^ALTER TABLE "(\w+)" ALTER COLUMN "(\w+)" TYPE /.exec(statement) ?? [];
    return of === table && column !== undefined ? [column] : [];
  });
  return [...columns, ...recreatedColumns(statements, table)];
}

/** The columns of a table that statements drop and add, such as one that is generated in another way. */
function recreatedColumns(statements: readonly string[], table: string): string[] {
  return statements.flatMap((statement) => {
    const [, of, column = ''] = ADDED.exec(statement) ?? [];
    const isDropped = statements.includes(`ALTER TABLE "${table}" DROP COLUMN "${column}"`);
    return of === table && isDropped ? [column] : [];
  });
}

/** The statements that create the indexes of lists that PostgreSQL drops with such a column. */
function indexesOfRecreatedColumns(
  metadata: EntityMetadata,
  statements: readonly string[],
): string[] {
  const { tableName: table } = metadata;
  const columns = recreatedColumns(statements, table);
  return listIndexes(listTableOf(metadata))
    .filter((index) => columns.some((column) => index.columns.includes(`"${column}"`)))
    .map((index) => createIndex(table, index));
}

/** The columns whose words a trigger of `install_words` keeps, in the order of its argument. */
async function searchedColumns(dataSource: DataSource, table: string): Promise<string[]> {
  const rows = await dataSource.query<{ columns: string[] }[]>(
    'SELECT columns FROM searches WHERE resource = $1',
    [table],
  );
  return rows.flatMap(({ columns }) => columns);
}

/** https://www.postgresql.org/docs/current/catalog-pg-trigger.html */
async function hasTrigger(dataSource: DataSource, table: string): Promise<boolean> {
  const rows = await dataSource.query<unknown[]>(
    `SELECT FROM pg_trigger WHERE tgrelid = to_regclass($1) AND tgfoid = 'keep_updated_at'::regproc`,
    [`"${table}"`],
  );
  return rows.length > 0;
}

/**
 * Checks the statements of a new migration.
 *
 * @param destructive whether the migration may lose data
 * @throws CommandError if a statement would lose data, or if the migration must be written by hand
 */
export async function checkChanges(
  dataSource: DataSource,
  statements: readonly string[],
  destructive: boolean,
): Promise<void> {
  for (const statement of statements) {
    const [, table = '', column = '', definition = ''] = ADDED.exec(statement) ?? [];
    if (column === '' || definition.includes(' GENERATED ALWAYS AS ')) continue;
    // TypeORM drops and adds the column if its type or length changes.
    if (statements.includes(`ALTER TABLE "${table}" DROP COLUMN "${column}"`)) {
      throw new CommandError(
        `${table}.${column} changes its type, which would empty it: write that by hand, ` +
          `into the file of npm run migration -- --empty <name>, as ALTER TABLE "${table}" ALTER COLUMN "${column}" TYPE ${definition}`,
      );
    }
    if (definition.endsWith(' NOT NULL') && !definition.includes(' DEFAULT ')) {
      throw new CommandError(
        `The ${table} that are there have no ${column}: let it be null, or give it a default`,
      );
    }
  }
  for (const statement of statements) {
    const [, value = ''] = /^ALTER TYPE \S+ ADD VALUE ('.*')$/.exec(statement) ?? [];
    if (value !== '' && statements.some((other) => other.endsWith(` SET DEFAULT ${value}`))) {
      throw new CommandError(
        `The default ${value} is a value that the same migration would add, which PostgreSQL cannot use yet: ` +
          'write a migration for the value, and then one for the default',
      );
    }
  }
  const destructiveStatements: string[] = [];
  for (const statement of statements) {
    await checkTriggers(dataSource, statement);
    if (await losesData(dataSource, statement)) destructiveStatements.push(statement);
  }
  if (destructiveStatements.length > 0 && !destructive) {
    throw new CommandError(
      `This loses what is there, and is written only with --destructive: ${destructiveStatements.join('; ')}`,
    );
  }
}

const ADDED = /^ALTER TABLE "(\w+)" ADD "(\w+)" (.*)$/;

/** Whether a statement loses existing data, or fails on it. */
async function losesData(dataSource: DataSource, statement: string): Promise<boolean> {
  const [, table = '', dropped] = /^ALTER TABLE "(\w+)" DROP COLUMN "(\w+)"$/.exec(statement) ?? [];
  if (dropped !== undefined) return !(await columnOf(dataSource, table, dropped)).isGenerated;
  if (/\bDROP TABLE\b/.test(statement)) return true;
  // TypeORM recreates an enum type and converts its columns by way of text. Removed values fail.
  const [, type, values = ''] =
    /^CREATE TYPE (?:"\w+"\.)?"(\w+)" AS ENUM\((.*)\)$/.exec(statement) ?? [];
  if (type !== undefined) {
    const labels = await dataSource.query<{ label: string }[]>(
      'SELECT enumlabel AS label FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid WHERE typname = $1',
      [type],
    );
    return labels.some(({ label }) => !values.includes(`'${label}'`));
  }
  const [, of = '', column, to = ''] =
    /^ALTER TABLE "(\w+)" ALTER COLUMN "(\w+)" TYPE (.+?)( COLLATE "\w+")?$/.exec(statement) ?? [];
  if (column === undefined || to.includes('::"text"::')) return false;
  return !isWider((await columnOf(dataSource, of, column)).type, to);
}

/** A column as the database has it: its type as in `numeric(9,2)`. */
async function columnOf(
  dataSource: DataSource,
  table: string,
  column: string,
): Promise<{ type: string; isGenerated: boolean }> {
  const [row] = await dataSource.query<{ type: string; isGenerated: boolean }[]>(
    `SELECT format_type(atttypid, atttypmod) AS type, attgenerated <> '' AS "isGenerated"
     FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2`,
    [`"${table}"`, column],
  );
  return row ?? { type: '', isGenerated: false };
}

/** @throws CommandError if a statement drops or renames a column that a trigger function reads */
async function checkTriggers(dataSource: DataSource, statement: string): Promise<void> {
  const [, table = '', column] =
    /^ALTER TABLE "(\w+)" (?:RENAME|DROP) COLUMN "(\w+)"/.exec(statement) ?? [];
  if (column === undefined) return;
  const [user] = await dataSource.query<{ trigger: string }[]>(
    `SELECT tgname AS trigger FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
     WHERE tgrelid = to_regclass($1) AND NOT tgisinternal AND strpos(prosrc, $2) > 0
     AND tgname !~ '_(tally|deletions)_'`,
    [`"${table}"`, `NEW."${column}"`],
  );
  if (!user) return;
  throw new CommandError(
    `The trigger ${user.trigger} reads ${table}.${column}: write that migration by hand, with its function`,
  );
}
