import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { databaseUrl, dropDatabase, newDatabase, query } from './database.js';
import { catalogue, PROJECT } from './processes.js';
import {
  brandID,
  categoryID,
  COLUMNS,
  OTHER_NAMES,
  productFile,
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
    // Of a writer that was killed.
    await query(url, `DELETE FROM products WHERE "productID" LIKE '%-writer'`);
    return url;
  }
  console.error(`Filling a database with ${rows} products`);
  // Has its name once it is full, so that no later run takes what an interrupted one has left.
  const filling = `${name}_filling`;
  await fill(await newDatabase(server, filling), rows);
  await query(server, `ALTER DATABASE ${filling} RENAME TO ${name}`);
  return databaseUrl(server, name);
}

/** Does work with a new database without products, and a file of so many to import. */
export async function withFile<Result>(
  server: string,
  rows: number,
  work: (url: string, file: string) => Promise<Result>,
): Promise<Result> {
  const name = 'catalogue_bench_import';
  const file = join(PROJECT, 'bench', '.data', 'products.csv');
  const url = await newDatabase(server, name);
  try {
    await fillRanks(url);
    await mkdir(dirname(file), { recursive: true });
    await pipeline(Readable.from(productFile(rows)), createWriteStream(file));
    await query(url, 'CHECKPOINT');
    return await work(url, file);
  } finally {
    await dropDatabase(server, name);
    await rm(file, { force: true });
  }
}

/** Fills an empty database. It builds the indexes again afterwards, since inserts leave them larger. */
async function fill(url: string, rows: number): Promise<void> {
  await fillRanks(url);
  await copyProducts(url, rows);
  await writeVariants(url);
  await query(
    url,
    `SET maintenance_work_mem = '1GB'; REINDEX TABLE products; REINDEX TABLE variants`,
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
async function fillRanks(url: string): Promise<void> {
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
