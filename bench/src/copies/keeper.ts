import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { mirrorOf } from '../client.js';
import { putting } from './tables.js';

/** What a process that keeps a copy is told. */
export interface Keeping {
  readonly name: string;
  readonly way: Way;
  /** Where the service is that it reads. */
  readonly address: string;
  /** Its credentials. */
  readonly headers: Record<string, string>;
  /** The database with the copies. */
  readonly store: string;
  /** Milliseconds from the end of a round to the next one. */
  readonly pause: number;
}

/**
 * By the client of the service; by downloading all of it, page by page; or by what was updated since the greatest
 * `updatedAt` that came, less an overlap of so many seconds.
 */
type Way = 'mirror' | 'download' | number;

/** As far as it is used here. */
interface Product {
  readonly productID: string;
  readonly updatedAt: string;
}

/** Objects in a page, the most that the services give. */
const PAGE = 1000;

const { name, way, address, headers, store, pause } = JSON.parse(process.argv[2] ?? '') as Keeping;
const client = new pg.Client(store);
await client.connect();

/** The copy is a table of PostgreSQL, with its cursor beside it. What a method did is kept when it resolves. */
const copy = {
  save: (cursor: string | undefined) => set('cursor = $2', cursor ?? null),
  clear: async () => {
    await set('cleared = cleared + 1');
    await client.query(`DELETE FROM "${name}"`);
  },
  put: async (products: readonly object[]) => {
    await client.query(putting(name), [JSON.stringify(products)]);
  },
  delete: (identifiers: readonly string[]) => deleteWhere('"productID" = ANY ($1)', identifiers),
};
const round = roundOf();
console.log('http://127.0.0.1:0');
process.once('SIGTERM', () => process.exit());
for (;;) {
  try {
    await set('begun = begun + 1');
    await round();
    await set('done = begun');
  } catch {
    // The service is not available. The next round continues.
  }
  await sleep(pause);
}

async function set(assignment: string, ...values: unknown[]): Promise<void> {
  await client.query(`UPDATE copies SET ${assignment} WHERE name = $1`, [name, ...values]);
}

async function deleteWhere(condition: string, identifiers: readonly string[]): Promise<void> {
  await client.query(`DELETE FROM "${name}" WHERE ${condition}`, [identifiers]);
}

async function cursorOf(): Promise<string | undefined> {
  const { rows } = await client.query<{ cursor: string | null }>(
    'SELECT cursor FROM copies WHERE name = $1',
    [name],
  );
  return rows[0]?.cursor ?? undefined;
}

/** One round of the copy, which throws if it fails. */
function roundOf(): () => Promise<void> {
  if (way === 'download') return download;
  if (way !== 'mirror') return () => bringUpToDate(way);
  const { save, ...products } = copy;
  return async () => {
    const mirror = await mirrorOf(
      address,
      headers,
      { products },
      { save, cursor: await cursorOf() },
    );
    await mirror.round();
  };
}

/** Each page begins at the last time of the page before: an offset would skip rows that move to the end meanwhile. */
async function bringUpToDate(overlap: number): Promise<void> {
  const cursor = (await cursorOf()) ?? new Date(0).toISOString();
  let since = new Date(Date.parse(cursor) - overlap * 1000).toISOString();
  let newest = cursor;
  let offset = 0;
  for (;;) {
    const products = await page(`updatedSince=${since}&sort=updatedAt&offset=${offset}`);
    await copy.put(products);
    const last = products.at(-1)?.updatedAt ?? since;
    newest = last > newest ? last : newest;
    if (products.length < PAGE) break;
    offset = last === since ? offset + PAGE : products.filter((p) => p.updatedAt === last).length;
    since = last;
  }
  await copy.save(newest);
}

async function download(): Promise<void> {
  const identifiers: string[] = [];
  for (let size = PAGE; size === PAGE;) {
    const products = await page(`offset=${identifiers.length}`);
    await copy.put(products);
    identifiers.push(...products.map(({ productID }) => productID));
    size = products.length;
  }
  await deleteWhere('"productID" NOT IN (SELECT unnest($1::text[]))', identifiers);
}

async function page(query: string): Promise<Product[]> {
  const response = await fetch(`${address}/products?limit=${PAGE}&${query}`, {
    headers,
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`The service answers ${response.status}`);
  const { response_data: data } = (await response.json()) as {
    response_data: { objects: Product[] };
  };
  return data.objects;
}
