import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { EmbeddedServer } from 'embedded-postgres-server';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { withApplication } from '../cli/open-catalogue.js';
import { dropAbandoned } from '../database/abandoned-databases.js';
import { RENAMED_METADATA } from '../database/migrate.js';
import { serverSettings } from '../database/server-settings.js';
import { socketOf } from '../private-api/database.js';
import { migrationsOf, type Project } from '../project.js';
import { migrate } from '../schema/migrate.js';
import { Settings } from '../settings/settings.js';

/** A database for one test. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

interface DatabaseOptions {
  /** Whether the database has the schema of the project. Default: true. */
  readonly migrated?: boolean;
  /** The project whose migrations are run where there is no template that has run them. */
  readonly project?: Project;
  /** A database to copy, which no session is in. */
  readonly copied?: TestDatabase;
}

/** Settings without durability: the data of a crashed test run is worthless. */
export const FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '100',
};

/**
 * Creates a database on the server of `TEST_DATABASE_URL`, or on an embedded one that all test processes of the
 * project share. Copying a template takes about 25 ms, running all migrations two seconds. Drops those of killed processes.
 */
export async function createDatabase({
  migrated = true,
  project,
  copied,
}: DatabaseOptions = {}): Promise<TestDatabase> {
  // Set by a global setup that has migrated it.
  const { TEST_TEMPLATE_DATABASE: template } = process.env;
  const run = template?.replace('catalogue_test_template_', 'catalogue_test_') ?? 'catalogue_test';
  const name = `${run}_${randomBytes(6).toString('hex')}`;
  const server = await testServer();
  const former = copied && new URL(copied.url).pathname.slice(1);
  const source = former ?? (migrated ? (template ?? 'template0') : 'template0');
  const holder = await connectedTo(server.url);
  await dropAbandoned(holder, `${run}_`, name);
  await holder.query(`CREATE DATABASE ${name} TEMPLATE ${source}`);
  // It neither reports the end of the server nor keeps the process, as where a test fails before it drops the database.
  holder.on('error', () => undefined);
  socketOf(holder).unref();
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  if (source !== 'template0') await queryOn(url.href, RENAMED_METADATA);
  else if (migrated && project) await migrateProject(project, url.href);
  return {
    url: url.href,
    drop: async () => {
      await holder.end();
      await queryOn(server.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await server.release();
    },
  };
}

async function testServer(): Promise<Pick<EmbeddedServer, 'url' | 'release'>> {
  const url = process.env.TEST_SERVER_URL ?? process.env.TEST_DATABASE_URL;
  if (url !== undefined) return { url, release: () => Promise.resolve() };
  const { embeddedServer } = await import('embedded-postgres-server');
  return embeddedServer(resolve('node_modules/.cache/catalogue-test'), {
    settings: { ...serverSettings(), ...FAST },
    onNotice: () => undefined,
  });
}

/** Brings a database up to date as `catalogue migrate` does, and then does work with the entities of the project. */
export async function migrateProject(
  project: Project,
  url: string,
  work?: (dataSource: DataSource) => Promise<void>,
): Promise<void> {
  const migrations = await migrationsOf(project);
  await withApplication(project, url, new Settings({}), async (application) => {
    const dataSource = application.get(DataSource);
    const declared = () => Promise.resolve(dataSource);
    await migrate(url, { migrations, declared, exact: true });
    await work?.(dataSource);
  });
}

/** A connection to a database, which its caller ends. */
export async function connectedTo(url: string): Promise<Client> {
  const client = new Client(url);
  await client.connect();
  return client;
}

/** The rows of a statement, over a connection of its own. */
export async function queryOn<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = await connectedTo(url);
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
