/** Adds a resource over an external table to the project in this folder. The generator reads the table on an embedded server. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { embeddedServer } from '../packages/embedded-postgres/index.js';

execFileSync('npm', ['run', '-s', 'build']);
const built = (path) => import(pathToFileURL(resolve('packages/server/dist', path)).href);
const { migrate } = await built('schema/migrate.js');
const { migrationsOf } = await built('project.js');

const directory = await mkdtemp(join(tmpdir(), 'catalogue-tables-'));
// If this process is root, the server runs as another user, who must reach the folder.
await chmod(directory, 0o755);
const server = await embeddedServer(directory);
try {
  await migrate(server.url, { migrations: await migrationsOf({ folder: resolve('dist') }) });
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(
    `CREATE SCHEMA sales;
     CREATE TABLE sales.items (id integer PRIMARY KEY, title varchar(80) NOT NULL, price numeric(9,2), sold_on date);
     CREATE INDEX ON sales.items (title); CREATE INDEX ON sales.items (price, id)`,
  );
  await client.end();
  execFileSync('npm', ['run', '-s', 'resource', '--', 'items', '--from-table', 'sales.items'], {
    env: { ...process.env, DATABASE_URL: server.url },
    stdio: 'inherit',
  });
} finally {
  await server.release();
  await rm(directory, { recursive: true, force: true });
}
