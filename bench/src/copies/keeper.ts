import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROJECT } from '../processes.js';
import { type Product, Store } from './store.js';

/** What a process that keeps a copy is told. */
export interface Keeping {
  readonly name: string;
  readonly way: Way;
  /** Where the service is that it reads. */
  readonly address: string;
  readonly clientID: string;
  readonly accessToken: string;
  /** The database with the copies. */
  readonly store: string;
  /** Milliseconds from the end of a round to the next one. */
  readonly pause: number;
}

type Way =
  /** By the client of the service. */
  | { readonly by: 'mirror' }
  /** By what was updated since the greatest `updatedAt` that came, or some seconds before. */
  | { readonly by: 'updatedAt'; readonly overlap: number }
  /** All of it, page by page. */
  | { readonly by: 'download' };

/** One round of a copy. Throws if it fails: it is tried again. */
type Round = () => Promise<void>;

/** As far as it is used here. */
interface Client {
  readonly products: {
    mirror(options: { store: Store; cursor: string | undefined }): Promise<void>;
  };
}

/** Objects in a page, the most that the services give. */
const PAGE = 1000;

const keeping = JSON.parse(process.argv[2] ?? '') as Keeping;
const store = await Store.open(keeping.store, keeping.name);
const round = await roundOf(keeping.way);
console.log('http://127.0.0.1:0');
process.once('SIGTERM', () => process.exit());
for (;;) {
  try {
    await store.count('begun');
    await round();
    await store.count('done');
  } catch {
    // The service is not available. The next round continues.
  }
  await sleep(keeping.pause);
}

async function roundOf(way: Way): Promise<Round> {
  if (way.by === 'download') return download;
  if (way.by === 'updatedAt') return () => bringUpToDate(way.overlap);
  const { Catalogue } = (await import(join(PROJECT, 'packages', 'client', 'dist', 'index.js'))) as {
    Catalogue: new (options: object) => Client;
  };
  const { address, clientID, accessToken } = keeping;
  const { products } = new Catalogue({ url: address, clientID, accessToken });
  return async () => products.mirror({ store, cursor: await store.cursor() });
}

/** Each page begins at the last time of the page before: an offset would skip rows that move to the end meanwhile. */
async function bringUpToDate(overlap: number): Promise<void> {
  const cursor = (await store.cursor()) ?? new Date(0).toISOString();
  let since = new Date(Date.parse(cursor) - overlap * 1000).toISOString();
  let newest = cursor;
  let offset = 0;
  for (;;) {
    const products = await page(`updatedSince=${since}&sort=updatedAt&offset=${offset}`);
    await store.put(products);
    const last = products.at(-1)?.updatedAt ?? since;
    newest = last > newest ? last : newest;
    if (products.length < PAGE) break;
    offset = last === since ? offset + PAGE : products.filter((p) => p.updatedAt === last).length;
    since = last;
  }
  await store.save(newest);
}

async function download(): Promise<void> {
  const identifiers: string[] = [];
  for (let size = PAGE; size === PAGE;) {
    const products = await page(`offset=${identifiers.length}`);
    await store.put(products);
    identifiers.push(...products.map(({ productID }) => productID));
    size = products.length;
  }
  await store.retain(identifiers);
}

async function page(query: string): Promise<Product[]> {
  const { address, clientID, accessToken } = keeping;
  const response = await fetch(`${address}/products?limit=${PAGE}&${query}`, {
    headers: { 'X-Client-ID': clientID, Authorization: `Bearer ${accessToken}` },
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`The service answers ${response.status}`);
  const { response_data: data } = (await response.json()) as {
    response_data: { objects: Product[] };
  };
  return data.objects;
}
