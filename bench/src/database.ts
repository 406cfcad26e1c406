import { join } from 'node:path';
import pg from 'pg';
import { catalogue, PROJECT } from './processes.js';

/** A PostgreSQL on which databases can be made. */
export interface DatabaseServer {
  readonly url: string;
  release(): Promise<void>;
}

interface Embedded {
  readonly embeddedServer: (
    dataDir: string,
    options: { settings: Record<string, string>; onNotice: (notice: string) => void },
  ) => Promise<DatabaseServer>;
}

/** The server of a URL, else the project's embedded one, its data beside the benchmark. */
export async function databaseServer(url: string | undefined): Promise<DatabaseServer> {
  if (url !== undefined) return { url, release: () => Promise.resolve() };
  const file = join(PROJECT, 'dist', 'database', 'embedded', 'embedded-server.js');
  const { embeddedServer } = (await import(file)) as Embedded;
  return embeddedServer(join(PROJECT, 'bench', '.data'), {
    // What a server of its own would have for a table of this size.
    settings: { shared_buffers: '1GB', max_wal_size: '4GB' },
    onNotice: console.error,
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

/** A database with so many products, that of an earlier run if there is one. */
export async function filledDatabase(server: string, rows: number): Promise<string> {
  const name = `catalogue_bench_${rows}`;
  const [there] = await query(server, 'SELECT FROM pg_database WHERE datname = $1', [name]);
  if (there) {
    const url = databaseUrl(server, name);
    await catalogue(['migrate'], url);
    const [{ count } = { count: '' }] = await query<{ count: string }>(
      url,
      'SELECT count(*) FROM products',
    );
    if (Number(count) === rows) return url;
  }
  console.error(`Filling a database with ${rows} products`);
  const url = await newDatabase(server, name);
  await fill(url, rows);
  return url;
}

/** Products in no order, as they would have come in over the years; 70 % of them physical. */
async function fill(url: string, rows: number): Promise<void> {
  await query(
    url,
    `INSERT INTO brands ("brandID", name)
     SELECT 'b' || lpad(i::text, 4, '0'), 'Brand ' || i FROM generate_series(0, 999) i`,
  );
  await query(
    url,
    `INSERT INTO categories ("categoryID", name)
     SELECT 'c' || lpad(i::text, 3, '0'), 'Category ' || i FROM generate_series(0, 299) i`,
  );
  await withoutIndexes(url, () => fillProducts(url, rows));
  await query(url, 'VACUUM ANALYZE products');
  await query(url, 'CHECKPOINT');
}

async function fillProducts(url: string, rows: number): Promise<void> {
  const parts = Math.ceil(rows / 100_000);
  for (let part = 0; part < parts; part += 1) {
    // The remainder spreads each part over all identifiers; the hash shuffles within the part.
    await query(
      url,
      `INSERT INTO products ("productID", "refID", type, name, description, "brandID", "categoryID",
                             price, currency, stock, "imageURL")
       SELECT 'p-' || lpad(i::text, 8, '0'), 'R-' || i,
         (ARRAY['PHYSICAL','PHYSICAL','PHYSICAL','PHYSICAL','PHYSICAL','PHYSICAL','PHYSICAL',
                'DIGITAL','DIGITAL','SERVICE'])[1 + hash % 10]::product_type,
         'Product number ' || i,
         'What there is to say about product ' || i || ', in the hundred characters or so that such a text has in a shop',
         'b' || lpad((hash / 10 % 1000)::text, 4, '0'), 'c' || lpad((hash / 7 % 300)::text, 3, '0'),
         round((hash % 100000)::numeric / 100, 2), 'EUR', hash % 50,
         'https://example.org/images/' || i || '.jpg'
       FROM (
         SELECT i, abs(hashint8(i)::bigint) AS hash FROM generate_series(${part}::bigint, ${rows - 1}, ${parts}) i
       ) numbered ORDER BY hash`,
    );
    if (parts > 1) console.error(`${part + 1} of ${parts}`);
  }
}

/** Does its work before the indexes and references of the products are made, which is faster. */
async function withoutIndexes(url: string, work: () => Promise<void>): Promise<void> {
  const references = await query<{ name: string; definition: string }>(
    url,
    `SELECT quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE conrelid = 'products'::regclass AND contype = 'f'`,
  );
  const indexes = await query<{ name: string; definition: string }>(
    url,
    `SELECT indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS definition
     FROM pg_index WHERE indrelid = 'products'::regclass AND NOT indisprimary`,
  );
  for (const { name } of references)
    await query(url, `ALTER TABLE products DROP CONSTRAINT ${name}`);
  for (const { name } of indexes) await query(url, `DROP INDEX ${name}`);
  await work();
  for (const { name, definition } of indexes) {
    console.error(`Making index ${name}`);
    await query(url, `SET maintenance_work_mem = '1GB'; ${definition}`);
  }
  for (const { name, definition } of references) {
    await query(url, `ALTER TABLE products ADD CONSTRAINT ${name} ${definition}`);
  }
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

/** Resolves when the service that runs on a database has folded and cut the tally. */
export async function tallyIsCut(url: string): Promise<void> {
  for (;;) {
    const [state] = await query<{ done: boolean }>(
      url,
      `SELECT NOT EXISTS (SELECT FROM products_tally_deltas) AND NOT EXISTS (
         SELECT FROM (
           SELECT count, sum(count) OVER (PARTITION BY facet) AS total FROM products_tally
         ) ranges WHERE count > 2 * greatest(2000, 4 * sqrt(total)) + 1
       ) AS done`,
    );
    if (state?.done) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
