import type { DataSource } from 'typeorm';
import { CommandError } from '../command-error.js';
import { deletionsTable } from '../list/deletions/deletion.js';
import { createIndex } from '../resource/list-indexes.js';
import { resourcesOf } from '../resource/resource.js';
import {
  countsAsDeclared,
  createUpdatedAtTrigger,
  dropIndex,
  installDeletions,
  installTally,
  type TallyColumns,
  tallyColumnsOf,
} from './install-statements.js';
import { listIndexChanges } from './list-indexes.js';
import { type Changes, schemaChanges } from './schema-changes.js';

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
  for (const metadata of resourcesOf(dataSource).values()) {
    const { tableName: table } = metadata;
    if (metadata.updateDateColumn && !(await hasTrigger(dataSource, table))) {
      up.push(createUpdatedAtTrigger(metadata));
    }
    if (!(await hasDeletionsTable(dataSource, table))) {
      up.push(installDeletions(metadata));
      down.unshift(`SELECT remove_deletions('${table}')`);
    }
    const [installed] = await dataSource.query<TallyColumns[]>(
      'SELECT counted, sorted, searched FROM tallies WHERE resource = $1',
      [table],
    );
    const declared = tallyColumnsOf(metadata);
    if (installed && countsAsDeclared(installed, declared)) continue;
    up.push(installTally(metadata, declared));
    down.unshift(installed ? installTally(metadata, installed) : `SELECT remove_tally('${table}')`);
  }
  return { up, down };
}

/** https://www.postgresql.org/docs/current/catalog-pg-trigger.html */
async function hasTrigger(dataSource: DataSource, table: string): Promise<boolean> {
  const rows = await dataSource.query<unknown[]>(
    `SELECT FROM pg_trigger WHERE tgrelid = to_regclass($1) AND tgfoid = 'keep_updated_at'::regproc`,
    [`"${table}"`],
  );
  return rows.length > 0;
}

async function hasDeletionsTable(dataSource: DataSource, table: string): Promise<boolean> {
  const [{ exists }] = await dataSource.query<[{ exists: boolean }]>(
    'SELECT to_regclass($1) IS NOT NULL AS exists',
    [deletionsTable(table)],
  );
  return exists;
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
    if (column === '') continue;
    // TypeORM drops and adds the column if its type or length changes.
    if (statements.includes(`ALTER TABLE "${table}" DROP COLUMN "${column}"`)) {
      throw new CommandError(
        `${table}.${column} changes its type, which would empty it: write that by hand, ` +
          `as ALTER TABLE "${table}" ALTER COLUMN "${column}" TYPE ${definition}`,
      );
    }
    if (definition.endsWith(' NOT NULL') && !definition.includes(' DEFAULT ')) {
      throw new CommandError(
        `The ${table} that are there have no ${column}: let it be null, or give it a default`,
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
  if (/\bDROP (TABLE|COLUMN)\b/.test(statement)) return true;
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
  return /\bALTER COLUMN "\w+" TYPE\b/.test(statement) && !statement.includes('::"text"::');
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
