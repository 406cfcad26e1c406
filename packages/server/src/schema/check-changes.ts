import type { DataSource } from 'typeorm';
import { CommandError } from '../command-error.js';
import { ADDED, dropColumn, isWider } from './schema-changes.js';

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
    if (statements.includes(dropColumn(table, column))) {
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
    await checkConditions(dataSource, statement);
    if (await losesData(dataSource, statement)) destructiveStatements.push(statement);
  }
  if (destructiveStatements.length > 0 && !destructive) {
    throw new CommandError(
      `This loses what is there, and is written only with --destructive: ${destructiveStatements.join('; ')}`,
    );
  }
}

/** Whether a statement loses existing data, or fails on it. */
async function losesData(dataSource: DataSource, statement: string): Promise<boolean> {
  const [, table = '', dropped] = /^ALTER TABLE "(\w+)" DROP COLUMN "(\w+)"$/.exec(statement) ?? [];
  if (dropped !== undefined)
    return !(await installedColumn(dataSource, table, dropped)).isGenerated;
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
  return !isWider((await installedColumn(dataSource, of, column)).type, to);
}

/** A column as the database has it: its type as in `numeric(9,2)`. */
async function installedColumn(
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
     AND tgname !~ '_(tally|deletions)_|_words$'`,
    [`"${table}"`, `NEW."${column}"`],
  );
  if (!user) return;
  throw new CommandError(
    `The trigger ${user.trigger} reads ${table}.${column}: write that migration by hand, with its function`,
  );
}

/** @throws CommandError if a check or an index compares an enumeration whose type a statement replaces */
async function checkConditions(dataSource: DataSource, statement: string): Promise<void> {
  const [, table = '', column] =
    /^ALTER TABLE "(\w+)" ALTER COLUMN "(\w+)" TYPE .*::"text"::/.exec(statement) ?? [];
  if (column === undefined) return;
  const [{ names }] = await dataSource.query<[{ names: string | null }]>(
    `SELECT string_agg(name, ', ' ORDER BY name) AS names FROM (
       SELECT conname AS name FROM pg_constraint
       JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY(conkey)
       WHERE conrelid = to_regclass($1) AND contype = 'c' AND attname = $2
       UNION SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       WHERE indrelid = to_regclass($1)
       AND concat(pg_get_expr(indpred, indrelid), ' ', pg_get_expr(indexprs, indrelid)) ~ ('\\m' || $2 || '\\M')
     ) conditions`,
    [`"${table}"`, column],
  );
  if (names === null) return;
  throw new CommandError(
    `${table}.${column} gets a new type, with which ${names} cannot compare it: ` +
      'drop them by a migration before, and create them by one after it',
  );
}
