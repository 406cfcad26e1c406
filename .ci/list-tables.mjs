/**
 * Adds two resources over tables of others to the project in this folder: one that is only read, and one that is
 * tracked. The generator reads the tables on an embedded server, which lasts no longer.
 */
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { embeddedServer } from '../packages/embedded-postgres/index.js';

execFileSync('npm', ['run', '-s', 'build']);
const built = (path) => import(pathToFileURL(resolve('dist', path)).href);
const { migrate } = await built('database/migrate.js');

const directory = await mkdtemp(join(tmpdir(), 'catalogue-tables-'));
// If this process is root, the server runs as another user, who must reach the folder.
await chmod(directory, 0o755);
const server = await embeddedServer(directory);
try {
  await migrate(server.url);
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(
    `CREATE SCHEMA sales;
     CREATE TYPE sales.state AS ENUM ('new', 'used');
     CREATE TABLE sales.items (id integer PRIMARY KEY, title varchar(80) NOT NULL, price numeric(9,2), sold_on date);
     CREATE INDEX ON sales.items (title); CREATE INDEX ON sales.items (price, id);
     CREATE TABLE sales.wares (ware_id text PRIMARY KEY, state sales.state NOT NULL, shelf integer);
     CREATE INDEX ON sales.wares (state); CREATE INDEX ON sales.wares (shelf)`,
  );
  await client.end();
  for (const options of [
    ['items', '--from-table', 'sales.items'],
    ['wares', '--from-table', 'sales.wares', '--track', '--counted', 'shelf'],
  ]) {
    // Or the generator would build what the one before has added.
    await utimes(join('dist', 'main.js'), new Date(), new Date());
    execFileSync('npm', ['run', '-s', 'resource', '--', ...options], {
      env: { ...process.env, DATABASE_URL: server.url },
      stdio: 'inherit',
    });
  }
} finally {
  await server.release();
  await rm(directory, { recursive: true, force: true });
}
