import { randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { CommandError } from '../command-error.js';
import { dropAbandoned } from '../database/abandoned-databases.js';
import { driverErrorOf } from '../database/database-failure.js';
import { quotedName } from '../resource/resource.js';
import { checkChanges } from '../schema/check-changes.js';
import { migrate } from '../schema/migrate.js';
import { type Changes, schemaChanges } from '../schema/schema-changes.js';
import { migrationsOf, type Project } from '../project.js';
import { Settings } from '../settings/settings.js';
import { withApplication } from './open-catalogue.js';

/** What the names of the empty databases begin with. */
const PREFIX = 'catalogue_migration_';

const FOLDER = join('src', 'migrations');

/**
 * Writes a migration from the schema of the existing migrations to that of the entities. Compares
 * them on an empty database, which it creates on the server of `url` and drops afterwards, with those that a killed
 * command has left.
 *
 * @param name in kebab case, such as `add-supplier-phone`
 * @param destructive whether the migration may lose data
 * @returns the path of the file; `undefined` if there is nothing to change
 * @throws CommandError if the name is invalid or taken, or if the migration must be written by hand
 */
export async function writeMigration(
  project: Project,
  url: string,
  name: string,
  destructive: boolean,
): Promise<string | undefined> {
  await checkName(name);
  const changes = await onEmptyDatabase(project, url, async (dataSource) => {
    const found = await schemaChanges(dataSource);
    await checkChanges(dataSource, found.up, destructive);
    return found;
  });
  return changes.up.length === 0 ? undefined : write(name, changes);
}

/** Writes a migration whose statements are then written by hand, as `writeMigration` does. */
export async function writeEmptyMigration(name: string): Promise<string> {
  await checkName(name);
  return write(name, { up: [], down: [] });
}

async function checkName(name: string): Promise<void> {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
    throw new CommandError(`A migration name must look like add-supplier-phone, not ${name}`);
  }
  const files = await readdir(FOLDER).catch(() => undefined);
  if (!files)
    throw new CommandError(`There is no ${FOLDER} here: run the command in the project's folder`);
  const existing = files.find((file) => file.endsWith(`-${name}.ts`));
  if (existing !== undefined) throw new CommandError(`There is ${join(FOLDER, existing)} already`);
}

async function write(name: string, changes: Changes): Promise<string> {
  const time = Date.now();
  const path = join(FOLDER, `${time}-${name}.ts`);
  await writeFile(path, await formatted(migrationText(name, time, changes)), { flag: 'wx' });
  return path;
}

/** Runs work on a temporary database that has all migrations applied and no data. */
async function onEmptyDatabase<T>(
  project: Project,
  server: string,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const name = `${PREFIX}${randomBytes(6).toString('hex')}`;
  const client = new Client(server);
  await client.connect();
  try {
    await dropAbandoned(client, PREFIX, name);
    await createDatabase(client, name);
    const url = new URL(server);
    url.pathname = `/${name}`;
    try {
      await migrate(url.href, { migrations: await migrationsOf(project) });
      return await withApplication(project, url.href, new Settings(process.env), (application) =>
        work(application.get(DataSource)),
      );
    } finally {
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  } finally {
    await client.end();
  }
}

/** @throws CommandError if the user of the server may not create databases */
async function createDatabase(client: Client, name: string): Promise<void> {
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0`);
  } catch (error) {
    if (driverErrorOf(error).code !== INSUFFICIENT_PRIVILEGE) throw error;
    const user = client.user ?? '';
    throw new CommandError(
      `The user ${user} may not create the empty database on which the schemas are compared: run ALTER ROLE ${quotedName(user)} CREATEDB as a superuser, or name a server in DATABASE_URL where it may; without DATABASE_URL it is the embedded one`,
    );
  }
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const INSUFFICIENT_PRIVILEGE = '42501';

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

const UP: readonly string[] = [${up.map(literal).join(', ')}];

const DOWN: readonly string[] = [${down.map(literal).join(', ')}];
`;
}

/** A statement as a template literal of TypeScript. */
function literal(statement: string): string {
  return `\`${statement.replace(/[\\`]|\$\{/g, '\\$&')}\``;
}

async function formatted(text: string): Promise<string> {
  const { format, resolveConfig } = await import('prettier');
  return format(text, { ...(await resolveConfig(FOLDER)), parser: 'typescript' });
}
