import pg from 'pg';
import { median } from './measure.js';
import { seeded } from './random.js';
import { productID } from './storefront-data.js';

/** What products take on disk, and what an update of a price writes. */
export interface Disk {
  /** Megabytes of the database. */
  readonly total: number;
  /** Its tables and indexes of at least one megabyte, the largest ones first. */
  readonly relations: readonly Relation[];
  readonly updates: readonly Update[];
}

interface Relation {
  readonly name: string;
  /** The key of an index, in SQL; null: a table. */
  readonly key: string | null;
  readonly megabytes: number;
}

/** Bytes of write-ahead log. */
interface Update {
  /** `wal_compression` of PostgreSQL. */
  readonly compression: string;
  /** The median of first updates of a product after a checkpoint: with images of all its pages. */
  readonly first: number;
  /** The median of updates of the same products right after: without images. */
  readonly next: number;
  /** The mean of updates of any products, from a checkpoint on. */
  readonly mean: number;
}

/** Products that are updated right after a checkpoint of their own, and those that share one. */
const SINGLE = 15;
const UPDATES = 2000;

const RELATIONS = `
  SELECT relname AS name, (pg_relation_size(pg_class.oid) / 1e6)::float8 AS megabytes,
    substring(pg_get_indexdef(indexrelid) FROM ' USING (.*?\\))(?: INCLUDE .*)?$') AS key
  FROM pg_class LEFT JOIN pg_index ON indexrelid = pg_class.oid
  WHERE relnamespace = current_schema()::regnamespace AND pg_relation_size(pg_class.oid) >= 1e6
  ORDER BY megabytes DESC, relname`;

/**
 * Measures a database that nobody else uses.
 *
 * @param url of a superuser, who may take checkpoints and set `wal_compression`
 */
export async function disk(url: string, rows: number): Promise<Disk> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows: relations } = await client.query<Relation>(RELATIONS);
    const [total] = await valuesOf(
      client,
      'SELECT pg_database_size(current_database()) / 1e6 AS value',
    );
    const compressions = await valuesOf(
      client,
      `SELECT unnest(enumvals) AS value FROM pg_settings WHERE name = 'wal_compression'`,
    );
    const updates: Update[] = [];
    for (const compression of ['off', 'lz4', 'pglz']) {
      if (!compressions.includes(compression)) continue;
      await client.query(`SET wal_compression = ${compression}`);
      updates.push({ compression, ...(await update(client, rows)) });
    }
    return { total: Number(total), relations, updates };
  } finally {
    await client.end();
  }
}

async function update(client: pg.Client, rows: number): Promise<Omit<Update, 'compression'>> {
  const random = seeded(rows);
  const any = (): string => productID(Math.floor(random() * rows));
  const [first, next]: [number[], number[]] = [[], []];
  for (let count = 0; count < SINGLE; count += 1) {
    const product = any();
    await client.query('CHECKPOINT');
    first.push(await writtenFor(client, [product]));
    next.push(await writtenFor(client, [product]));
  }
  await client.query('CHECKPOINT');
  const written = await writtenFor(client, Array.from({ length: UPDATES }, any));
  return { first: median(first), next: median(next), mean: written / UPDATES };
}

/** The bytes for an update of each product. It is taken back, which writes as much as a commit. */
async function writtenFor(client: pg.Client, products: readonly string[]): Promise<number> {
  const [before] = await valuesOf(client, 'SELECT pg_current_wal_insert_lsn() AS value');
  for (const product of products) {
    await client.query('BEGIN');
    await client.query({
      name: 'update',
      text: 'UPDATE products SET price = coalesce(price, 0) + 1 WHERE "productID" = $1',
      values: [product],
    });
    await client.query('ROLLBACK');
  }
  const [bytes] = await valuesOf(
    client,
    `SELECT pg_current_wal_insert_lsn() - '${before ?? ''}' AS value`,
  );
  return Number(bytes);
}

async function valuesOf(client: pg.Client, sql: string): Promise<string[]> {
  const { rows } = await client.query<{ value: string }>(sql);
  return rows.map(({ value }) => value);
}
