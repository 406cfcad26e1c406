import { join } from 'node:path';
import pg from 'pg';
import { catalogue, PROJECT } from './processes.js';

/** A PostgreSQL on which databases can be made. */
export interface DatabaseServer {
  readonly url: string;
  release(): Promise<void>;
}

interface EmbeddedPostgres {
  embeddedServer(dataDir: string, options: object): Promise<DatabaseServer>;
}

interface Settings {
  serverSettings(): Record<string, string>;
}

/** The server of a URL, else the project's embedded one, its data beside the benchmark. */
export async function databaseServer(url: string | undefined): Promise<DatabaseServer> {
  if (url !== undefined) return { url, release: () => Promise.resolve() };
  const file = join(PROJECT, 'packages', 'embedded-postgres', 'index.js');
  const embedded = (await import(file)) as EmbeddedPostgres;
  const settings = (await import(
    join(PROJECT, 'packages', 'server', 'dist', 'database', 'server-settings.js')
  )) as Settings;
  return embedded.embeddedServer(join(PROJECT, 'bench', '.data'), {
    name: 'catalogue',
    // The size of the buffers is what a server of its own would have for a table of this size.
    settings: { ...settings.serverSettings(), shared_buffers: '1GB' },
  });
}

export async function query<Row extends object>(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<Row>(sql, values);
    return rows;
  } finally {
    await client.end();
  }
}

/** The version of a server. */
export async function serverVersion(url: string): Promise<string> {
  const [row] = await query<{ server_version: string }>(url, 'SHOW server_version');
  return row?.server_version ?? '';
}

export function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** A new database with the project's schema and nothing in it. */
export async function newDatabase(server: string, name: string): Promise<string> {
  await query(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await query(server, `CREATE DATABASE ${name}`);
  const url = databaseUrl(server, name);
  await catalogue(['migrate'], url);
  return url;
}

export async function dropDatabase(server: string, name: string): Promise<void> {
  await query(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

/**
 * Resolves when a database has nothing more to do for the requests that a slice cut off, which
 * would be counted against the contender that comes next. What takes it long is cancelled.
 */
export async function isQuiet(client: pg.Client): Promise<void> {
  for (let quiet = 0; quiet < 3;) {
    const { rowCount } = await client.query(
      `SELECT CASE WHEN query_start < now() - interval '0.5 s' THEN pg_cancel_backend(pid) END
       FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend'
       AND state = 'active' AND pid <> pg_backend_pid() AND application_name <> 'writer'`,
    );
    quiet = rowCount === 0 ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Resolves when the service that runs on a database has folded and cut the tally, and has counted common words. */
export async function tallyIsCut(url: string): Promise<void> {
  for (;;) {
    const [state] = await query<{ done: boolean }>(
      url,
      `SELECT NOT EXISTS (SELECT FROM products_tally_deltas) AND NOT EXISTS (
         SELECT FROM (
           SELECT facet, count, sum(count) OVER (PARTITION BY facet) AS total FROM products_tally
         ) ranges WHERE count > 2 * greatest(
             CASE WHEN strpos(split_part(facet, '=', 1), '+') > 0 THEN 20000 ELSE 2000 END, 4 * sqrt(total)
           ) + 1
       ) AND NOT EXISTS (SELECT FROM products_tally_by_words_counted WHERE NOT is_counted)
       -- The most common word is in 99 % of the products, and is counted if it is in 5,000.
       AND EXISTS (
         SELECT FROM pg_class WHERE oid = 'products'::regclass AND reltuples < 6000
         UNION ALL SELECT FROM products_tally_by_words_counted
       ) AS done`,
    );
    if (state?.done) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
