import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { databaseUrl, dropDatabase, newDatabase, query } from './database.js';
import { catalogue } from './processes.js';
import {
  brandID,
  categoryID,
  COLUMNS,
  OTHER_NAMES,
  productLines,
  RANKS,
  SIZES,
  TREE,
  VARIANTS,
} from './storefront-data.js';

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
  await withoutTally(url, 'products', () =>
    withoutIndexes(url, 'products', () => copyProducts(url, rows)),
  );
  await withoutTally(url, 'variants', () =>
    withoutIndexes(url, 'variants', () => writeVariants(url)),
  );
  await query(url, 'VACUUM ANALYZE products, variants');
  await query(url, 'CHECKPOINT');
}

/** Writes the variants of all products, in random order. */
async function writeVariants(url: string): Promise<void> {
  await query(
    url,
    `INSERT INTO variants ("variantID", "productID", name, price, currency, stock)
     SELECT "productID" || '-' || at, "productID", coalesce(($2::text[])[odd % 9 + 1], 'No. ' || odd / 9 % $3),
       price, currency, odd % 40
     FROM products CROSS JOIN generate_series(1, $1::integer) at
     CROSS JOIN LATERAL (SELECT hashtext("productID" || at) & 2147483647 AS odd) drawn ORDER BY odd`,
    [VARIANTS, SIZES, OTHER_NAMES],
  );
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

export async function copyProducts(url: string, rows: number): Promise<void> {
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

/** Does its work before the indexes and references of a table are made. */
async function withoutIndexes(
  url: string,
  table: string,
  work: () => Promise<void>,
): Promise<void> {
  const references = await query<{ name: string; definition: string }>(
    url,
    `SELECT quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE conrelid = to_regclass($1) AND contype = 'f'`,
    [table],
  );
  const indexes = await query<{ name: string; definition: string }>(
    url,
    `SELECT indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS definition
     FROM pg_index WHERE indrelid = to_regclass($1) AND NOT indisprimary`,
    [table],
  );
  for (const { name } of references)
    await query(url, `ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  for (const { name } of indexes) await query(url, `DROP INDEX ${name}`);
  await work();
  for (const { name, definition } of indexes) {
    console.error(`Making index ${name}`);
    await query(url, `SET maintenance_work_mem = '1GB'; ${definition}`);
  }
  for (const { name, definition } of references) {
    await query(url, `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
  }
}

/** Does its work without the triggers of a tally, and installs the tally again as it was. */
export async function withoutTally(
  url: string,
  resource: string,
  work: () => Promise<void>,
): Promise<void> {
  // The arguments are the columns of the tally's row, whatever they are, after the resource.
  const [install] = await query<{ statement: string }>(
    url,
    `SELECT format('SELECT install_tally(resource, %s) FROM tallies WHERE resource = %L',
              (SELECT string_agg(quote_ident(name), ', ' ORDER BY at)
               FROM unnest(proargnames) WITH ORDINALITY AS argument(name, at) WHERE at > 1),
              $1::text
            ) AS statement
     FROM pg_proc WHERE oid = 'install_tally'::regproc`,
    [resource],
  );
  if (!install) throw new Error('There is no install_tally');
  const triggers = await query<{ name: string }>(
    url,
    `SELECT quote_ident(tgname) AS name FROM pg_trigger
     WHERE tgrelid = to_regclass($1) AND starts_with(tgname, $1 || '_tally_')`,
    [resource],
  );
  for (const { name } of triggers)
    await query(url, `ALTER TABLE ${resource} DISABLE TRIGGER ${name}`);
  try {
    await work();
  } finally {
    await query(url, install.statement);
  }
}
