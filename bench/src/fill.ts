import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { databaseUrl, dropDatabase, newDatabase, query } from './database.js';
import { catalogue } from './processes.js';
import { brandID, categoryID, COLUMNS, productLines, RANKS, TREE } from './storefront-data.js';

/** A database with so many products, that of an earlier run if there is one. */
export async function filledDatabase(server: string, rows: number): Promise<string> {
  const name = `catalogue_storefront_${rows}`;
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
  // Has its name once it is full, so that no later run takes what an interrupted one has left.
  const filling = `${name}_filling`;
  await fill(await newDatabase(server, filling), rows);
  await dropDatabase(server, name);
  await query(server, `ALTER DATABASE ${filling} RENAME TO ${name}`);
  return databaseUrl(server, name);
}

/** Fills an empty database. Without indexes and tally this is several times as fast. */
async function fill(url: string, rows: number): Promise<void> {
  await fillRanks(url);
  await withoutTally(url, () => withoutIndexes(url, () => copyProducts(url, rows)));
  await query(url, 'VACUUM ANALYZE products');
  await query(url, 'CHECKPOINT');
}

/** Writes the brands and the categories. */
export async function fillRanks(url: string): Promise<void> {
  const ranks = Array.from({ length: RANKS }, (_, rank) => rank);
  for (const [table, key, identifier] of [
    ['brands', 'brandID', brandID],
    ['categories', 'categoryID', categoryID],
  ] as const) {
    await query(
      url,
      `INSERT INTO ${table} ("${key}", name) SELECT id, 'Name of ' || id FROM unnest($1::text[]) id`,
      [ranks.map(identifier)],
    );
  }
  const below = ranks.filter((rank) => rank % TREE > 0);
  await query(
    url,
    `UPDATE categories SET "parentID" = root FROM unnest($1::text[], $2::text[]) parents(id, root)
     WHERE "categoryID" = id`,
    [below.map(categoryID), below.map((rank) => categoryID(rank - (rank % TREE)))],
  );
}

async function copyProducts(url: string, rows: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await pipeline(
      Readable.from(productLines(rows)),
      client.query(copyFrom(`COPY products (${COLUMNS}) FROM STDIN`)),
    );
  } finally {
    await client.end();
  }
}

/** Does its work before the indexes and references of the products are made. */
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

/** Does its work without the triggers of the tally, and installs the tally again as it was. */
export async function withoutTally(url: string, work: () => Promise<void>): Promise<void> {
  // The arguments are the columns of the tally's row, whatever they are, after the resource.
  const [install] = await query<{ statement: string }>(
    url,
    `SELECT format('SELECT install_tally(resource, %s) FROM tallies WHERE resource = ''products''',
              (SELECT string_agg(quote_ident(name), ', ' ORDER BY at)
               FROM unnest(proargnames) WITH ORDINALITY AS argument(name, at) WHERE at > 1)
            ) AS statement
     FROM pg_proc WHERE oid = 'install_tally'::regproc`,
  );
  if (!install) throw new Error('There is no install_tally');
  const triggers = await query<{ name: string }>(
    url,
    `SELECT quote_ident(tgname) AS name FROM pg_trigger
     WHERE tgrelid = 'products'::regclass AND starts_with(tgname, 'products_tally_')`,
  );
  for (const { name } of triggers) await query(url, `ALTER TABLE products DISABLE TRIGGER ${name}`);
  try {
    await work();
  } finally {
    await query(url, install.statement);
  }
}
