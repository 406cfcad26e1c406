import { NestFactory } from '@nestjs/core';
import { randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { AppModule } from '../app.module.js';
import { migrate } from '../database/migrate.js';
import { type Changes, schemaChanges } from './schema-changes.js';
import { createUpdatedAtTrigger, installDeletions, installTally } from './install-statements.js';
import { deletionsTable } from '../list/deletions/deletion.js';
import { countedOf, resourcesOf } from '../resource/resource.js';
import { CommandError } from '../command-error.js';

const FOLDER = join('src', 'database', 'migrations');

/**
 * Writes the migration from the schema that those before it make to what the entities say, found
 * out on an empty database made for it on the server of a URL. Gives the path of its file;
 * `undefined` where there is nothing to change.
 */
export async function writeMigration(
  url: string,
  name: string,
  destructive: boolean,
): Promise<string | undefined> {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
    throw new CommandError(`A migration is named like add-supplier-phone, not ${name}`);
  }
  const there = await readdir(FOLDER).catch(() => undefined);
  if (!there)
    throw new CommandError(`There is no ${FOLDER} here: write migrations in the project's folder`);
  const same = there.find((file) => file.endsWith(`-${name}.ts`));
  if (same !== undefined) throw new CommandError(`There is ${join(FOLDER, same)} already`);
  const changes = await onEmptyDatabase(url, async (dataSource) => {
    const found = await changesOf(dataSource);
    await check(dataSource, found.up, destructive);
    return found;
  });
  if (changes.up.length === 0) return undefined;
  const time = Date.now();
  const path = join(FOLDER, `${time}-${name}.ts`);
  await writeFile(path, await formatted(migrationText(name, time, changes)), { flag: 'wx' });
  return path;
}

/** Does some work on a database with the schema as the migrations make it, and nothing in it. */
async function onEmptyDatabase<T>(
  server: string,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const name = `catalogue_migration_${randomBytes(6).toString('hex')}`;
  const client = new Client(server);
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    try {
      await migrate(url.href);
      const settings = { maxLimit: 0, pageCache: 0, poolSize: 1, queryTimeout: 0 };
      const module = AppModule.on(url.href, settings);
      const application = await NestFactory.createApplicationContext(module, {
        abortOnError: false,
        logger: false,
      });
      try {
        return await work(application.get(DataSource));
      } finally {
        await application.close();
      }
    } finally {
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  } finally {
    await client.end();
  }
}

async function changesOf(dataSource: DataSource): Promise<Changes> {
  const changes = await schemaChanges(dataSource);
  const [up, down] = [[...changes.up], [...changes.down]];
  for (const metadata of resourcesOf(dataSource).values()) {
    const { tableName: table } = metadata;
    if (metadata.updateDateColumn && !(await hasTrigger(dataSource, table))) {
      up.push(createUpdatedAtTrigger(metadata));
    }
    if (!(await keepsDeletions(dataSource, table))) {
      up.push(installDeletions(metadata));
      down.unshift(`SELECT remove_deletions('${table}')`);
    }
    const [installed] = await dataSource.query<{ counted: string[] }[]>(
      'SELECT counted FROM tallies WHERE resource = $1',
      [table],
    );
    const counted = countedOf(metadata);
    if (installed?.counted.join() === counted.join()) continue;
    up.push(installTally(metadata, counted));
    down.unshift(
      installed ? installTally(metadata, installed.counted) : `SELECT remove_tally('${table}')`,
    );
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

async function keepsDeletions(dataSource: DataSource, table: string): Promise<boolean> {
  const [{ keeps }] = await dataSource.query<[{ keeps: boolean }]>(
    'SELECT to_regclass($1) IS NOT NULL AS keeps',
    [deletionsTable(table)],
  );
  return keeps;
}

/** Refuses what would lose data without being told to, and what nobody can do but by hand. */
async function check(
  dataSource: DataSource,
  statements: readonly string[],
  destructive: boolean,
): Promise<void> {
  for (const statement of statements) {
    const [, table = '', column = '', definition = ''] = ADDED.exec(statement) ?? [];
    if (column === '') continue;
    // To TypeORM another length is another column.
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
  const losing: string[] = [];
  for (const statement of statements) {
    await checkTriggers(dataSource, statement);
    if (await loses(dataSource, statement)) losing.push(statement);
  }
  if (losing.length > 0 && !destructive) {
    throw new CommandError(
      `This loses what is there, and is written only with --destructive: ${losing.join('; ')}`,
    );
  }
}

const ADDED = /^ALTER TABLE "(\w+)" ADD "(\w+)" (.*)$/;

/** Whether a statement loses what a database holds, or fails on what it holds. */
async function loses(dataSource: DataSource, statement: string): Promise<boolean> {
  if (/\bDROP (TABLE|COLUMN)\b/.test(statement)) return true;
  // An enumeration is made anew by way of text: a value that is gone is not there to be kept.
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

/** Refuses to take a column away from under a trigger, or to rename it: no one else would notice. */
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

function migrationText(name: string, time: number, { up, down }: Changes): string {
  const words = name.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ${words.join('')}${time} implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}

const UP = [${up.map(literal).join(', ')}];

const DOWN = [${down.map(literal).join(', ')}];
`;
}

/** A statement as a text of TypeScript. */
function literal(statement: string): string {
  return `\`${statement.replace(/[\\`]|\$\{/g, '\\$&')}\``;
}

async function formatted(text: string): Promise<string> {
  const { format, resolveConfig } = await import('prettier');
  return format(text, { ...(await resolveConfig(FOLDER)), parser: 'typescript' });
}
