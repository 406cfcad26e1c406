import { NestFactory } from '@nestjs/core';
import { randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { AppModule } from '../app.module.js';
import { CommandError } from '../command-error.js';
import { migrate } from '../database/migrate.js';
import { checkChanges, migrationChanges } from '../schema/migration-changes.js';
import type { Changes } from '../schema/schema-changes.js';
import { Settings } from '../settings/settings.js';
import { commandSettings } from './open-catalogue.js';

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
    const found = await migrationChanges(dataSource);
    await checkChanges(dataSource, found.up, destructive);
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
      const module = AppModule.forRoot(url.href, commandSettings(new Settings(process.env)));
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
