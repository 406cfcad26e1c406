import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** A database for one test. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates an empty database, by default with the migrated schema. Takes about 25 ms. */
export async function createDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  const template = variable('TEST_TEMPLATE_DATABASE');
  const run = template.replace('catalogue_test_template_', 'catalogue_test_');
  const name = `${run}_${randomBytes(6).toString('hex')}`;
  const server = variable('TEST_SERVER_URL');
  await queryOn(server, `CREATE DATABASE ${name} TEMPLATE ${migrated ? template : 'template0'}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => {
      await queryOn(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
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

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: global-setup.mjs sets it`);
  return value;
}
