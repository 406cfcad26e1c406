import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { FIELDS } from './contenders/product.js';
import { dropDatabase, newDatabase, query } from './database.js';
import { catalogue, PROJECT } from './processes.js';

export interface Loading {
  /** Seconds. */
  readonly catalogueImport: number;
  /** Into the same table, with the same indexes and triggers. */
  readonly bareCopy: number;
  /** The same without a tally, which the service could not do without. */
  readonly copyWithoutTally: number;
}

// COPY and an import write arrays in different forms.
const COLUMNS = FIELDS.filter((field) => !field.endsWith('At') && field !== 'colours')
  .map((field) => `"${field}"`)
  .join(', ');

/**
 * How long `catalogue import` takes for the products of a database, and how long a bare COPY of the
 * same file into the same table takes.
 */
export async function loading(server: string, filledUrl: string): Promise<Loading> {
  const folder = join(PROJECT, 'bench', '.data');
  const file = join(folder, 'products.csv');
  const source = new pg.Client(filledUrl);
  await source.connect();
  await pipeline(
    source.query(
      copyTo(`COPY (SELECT ${COLUMNS} FROM products) TO STDOUT WITH (FORMAT csv, HEADER)`),
    ),
    createWriteStream(file),
  );
  await source.end();
  const name = 'catalogue_bench_loading';
  try {
    const bareCopy = await onEmpty(server, name, filledUrl, (url) => copy(url, file));
    const copyWithoutTally = await onEmpty(server, name, filledUrl, async (url) => {
      await query(url, `SELECT remove_tally('products')`);
      return copy(url, file);
    });
    const catalogueImport = await onEmpty(server, name, filledUrl, async (url) => {
      const { seconds } = await catalogue(['import', 'products', file], url);
      return seconds;
    });
    return { catalogueImport, bareCopy, copyWithoutTally };
  } finally {
    await dropDatabase(server, name);
    await rm(file, { force: true });
  }
}

async function onEmpty(
  server: string,
  name: string,
  filledUrl: string,
  work: (url: string) => Promise<number>,
): Promise<number> {
  const url = await newDatabase(server, name);
  for (const table of ['brands', 'categories']) {
    const rows = await query(filledUrl, `SELECT * FROM ${table}`);
    await query(
      url,
      `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`,
      [JSON.stringify(rows)],
    );
  }
  await query(url, 'CHECKPOINT');
  return work(url);
}

async function copy(url: string, file: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const started = performance.now();
  await pipeline(
    createReadStream(file),
    client.query(copyFrom(`COPY products (${COLUMNS}) FROM STDIN WITH (FORMAT csv, HEADER)`)),
  );
  const seconds = (performance.now() - started) / 1000;
  await client.end();
  return seconds;
}
