import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { onPrimary, type Servers } from '../background.js';
import { oneOf, type Random, seeded } from '../random.js';
import { type Moment, momentOf, TICK } from './tables.js';

/** Eight writers. `open` and `pause` are milliseconds, at most and on average; `changes` are those of a transaction. */
const KINDS = [
  ...Array.from({ length: 3 }, () => ({ changes: 2, open: 0, pause: 150, rows: 3 })),
  ...Array.from({ length: 4 }, () => ({ changes: 5, open: 15_000, pause: 500, rows: 3 })),
  { changes: 3, open: 0, pause: 5000, rows: 300 },
];

/** A transaction whose COMMIT was sent, in nanoseconds of the clock of the machine. Without `return`, nothing came back. */
export interface Commit extends Moment {
  readonly process: string;
  readonly call: bigint;
  return?: bigint;
}

export interface Written {
  readonly commits: Commit[];
  changes: number;
  rolledBack: number;
  /** Transactions that were open for a second or longer. */
  late: number;
  /** Seconds. */
  longestOpen: number;
}

const PRODUCT = '"productID", type, name, "brandID", "categoryID", price, currency, stock, colours';

/**
 * Statements of a change over several resources. `W` is the writer, `R` a number, `B` a brand of the writer, `P` one of its
 * products, and `L` how many rows are changed at most.
 */
const CHANGES = {
  add: [
    `INSERT INTO brands ("brandID", name) VALUES ('bW-R', 'Brand R') ON CONFLICT DO NOTHING`,
    `INSERT INTO products (${PRODUCT}) SELECT 'pW-R-' || k, 'PHYSICAL', 'Product ' || k, 'bW-R', 'c' || (R + k) % 40,
       round(R % 1000 / 100.0, R % 4), 'EUR', R % 60, '{red}' FROM generate_series(1, 1 + R % 5) k ON CONFLICT DO NOTHING`,
    `INSERT INTO variants ("variantID", "productID", name) SELECT "productID" || '-' || k, "productID", 'Size ' || k
     FROM products, generate_series(1, R % 4) k WHERE "brandID" = 'bW-R' ON CONFLICT DO NOTHING`,
  ],
  move: [
    `UPDATE products SET "categoryID" = 'c' || R % 40, price = round(R % 1000 / 10.0, R % 5), stock = R % 60 WHERE "productID" IN
       (SELECT "productID" FROM products WHERE "productID" LIKE 'pW-%' ORDER BY md5("productID" || R) LIMIT L)`,
  ],
  vary: [
    `DELETE FROM variants WHERE "productID" = 'P' AND md5("variantID" || R) < '4'`,
    `UPDATE variants SET "variantID" = "variantID" || '+' WHERE "productID" = 'P' AND "variantID" NOT LIKE '%+'`,
    `INSERT INTO variants ("variantID", "productID", name, stock) SELECT 'vW-R', "productID", 'R', R % 9
     FROM products WHERE "productID" = 'P' ON CONFLICT DO NOTHING`,
  ],
  remove: [
    `DELETE FROM products WHERE "brandID" = 'B'`,
    `DELETE FROM brands WHERE "brandID" = 'B'`,
  ],
  rename: [
    `INSERT INTO products (${PRODUCT}) SELECT "productID" || '+', ${PRODUCT.slice(13)} FROM products
     WHERE "productID" = 'P' AND NOT EXISTS (SELECT FROM products WHERE "productID" = 'P+')`,
    `UPDATE variants SET "productID" = 'P+' WHERE "productID" = 'P'`,
    `DELETE FROM products WHERE "productID" = 'P'`,
  ],
  categorise: [
    `INSERT INTO categories ("categoryID", "parentID", name) VALUES ('cW-R', 'c' || R % 40, 'R') ON CONFLICT DO NOTHING`,
    `UPDATE products SET "categoryID" = 'cW-R', "productID" = replace("productID", '+', '') WHERE "productID" = 'P'
       AND NOT EXISTS (SELECT FROM variants WHERE "productID" = 'P')`,
    `UPDATE categories SET "parentID" = 'c' || R % 10, name = 'Moved R' WHERE "categoryID" = 'c' || 10 + W + 8 * (R % 3)`,
  ],
  uncategorise: [
    `UPDATE products SET "categoryID" = 'cW' WHERE "categoryID" LIKE 'cW-%'`,
    `DELETE FROM categories WHERE "categoryID" LIKE 'cW-%'`,
  ],
} satisfies Record<string, readonly string[]>;

const FREQUENCIES: readonly [keyof typeof CHANGES, ...(keyof typeof CHANGES)[]] = [
  ...(['add', 'add', 'move', 'move', 'move', 'vary', 'vary', 'remove', 'remove'] as const),
  ...(['rename', 'categorise', 'uncategorise'] as const),
];

/** Puts so many brands for each writer, with their products and variants, and the categories. */
export async function fill(client: pg.Client, brands: number): Promise<void> {
  const random = seeded(brands);
  await client.query('BEGIN');
  await client.query(`INSERT INTO categories ("categoryID", name, "parentID")
    SELECT 'c' || k, k, CASE WHEN k >= 10 THEN 'c' || k % 10 END FROM generate_series(0, 39) k;
    INSERT INTO categories ("categoryID", name) VALUES ('clock', '0 start')`);
  for (let at = 0; at < brands * KINDS.length; at += 1)
    await change(client, 'add', { W: at % KINDS.length, R: Math.floor(random() * 1e6) });
  await client.query('COMMIT');
}

/** Starts all writers. The result ends them: each commits what it has begun. */
export function startWriters(
  primary: Servers,
  seed: number,
  written: Written,
): () => Promise<void> {
  const ends = KINDS.map((kind, at) => {
    const random = seeded(seed * 100 + at);
    return onPrimary(primary, (client, signal) =>
      write(client, { kind, at, random, signal, written }),
    );
  });
  return async () => {
    await Promise.all(ends.map((end) => end()));
  };
}

interface Work {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly written: Written;
}

async function write(
  client: pg.Client,
  { kind, at, random, signal, written }: Work,
): Promise<void> {
  const changeOne = async (): Promise<void> => {
    const values = { W: at, R: Math.floor(random() * 1e6), L: kind.rows };
    await change(client, oneOf(random, FREQUENCIES), values);
    written.changes += 1;
  };
  while (!signal.aborted) {
    const began = performance.now();
    await client.query('BEGIN');
    for (let left = random() * kind.changes; left > 0; left -= 1) await changeOne();
    await client.query('SAVEPOINT undone');
    if (kind.open > 0) await sleep(kind.open * random() ** 2, undefined, { signal }).catch(() => 0);
    await changeOne();
    if (random() < 0.3) await client.query('ROLLBACK TO undone');
    if (random() < 0.1) {
      await client.query('ROLLBACK');
      written.rolledBack += 1;
    } else {
      const token = randomBytes(4).toString('hex');
      const { rows } = await client.query<{ name: string }>(TICK, [token]);
      const process = `writer ${at}`;
      const call = globalThis.process.hrtime.bigint();
      const commit: Commit = { ...momentOf(rows[0]?.name), process, call };
      written.commits.push(commit);
      await client.query('COMMIT');
      commit.return = globalThis.process.hrtime.bigint();
    }
    const open = (performance.now() - began) / 1000;
    if (open >= 1) written.late += 1;
    written.longestOpen = Math.max(written.longestOpen, open);
    await sleep(kind.pause * 2 * random(), undefined, { signal }).catch(() => 0);
  }
}

async function change(
  client: pg.Client,
  name: keyof typeof CHANGES,
  { W, R, L = 1 }: { W: number; R: number; L?: number },
): Promise<void> {
  const { rows } = await client.query<{ B?: string; P?: string }>(
    `SELECT (SELECT "brandID" FROM brands WHERE "brandID" LIKE $1 ORDER BY md5("brandID" || $3) LIMIT 1) AS "B",
       (SELECT "productID" FROM products WHERE "productID" LIKE $2 ORDER BY md5("productID" || $3) LIMIT 1) AS "P"`,
    [`b${W}-%`, `p${W}-%`, String(R)],
  );
  const { B, P } = rows[0] ?? {};
  for (const statement of CHANGES[name]) {
    const text = statement.replaceAll(/\b([WRL])\b|(?<=[bcpv])W\b|(?<=')([BP])(?=['+])/g, (found) =>
      String({ W, R, L, B, P }[found]),
    );
    await client.query(text);
  }
}
