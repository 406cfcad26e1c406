import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { MAXIMUM_SORTED } from '../../src/list/statement/picked-by-offset.js';
import { type Service, startService } from '../service.js';

/** Two words, whose objects the tally does not count. */
const SEARCH = 'blue wool';
const MORE = 20;

let service: Service;

beforeAll(async () => {
  service = await startService({ PAGE_CACHE_MB: '0', QUERY_TIMEOUT_MS: '60000' });
  await service.dataSource.query(
    `INSERT INTO products ("productID", type, name, price, currency)
       SELECT 'p' || lpad(i::text, 6, '0'), 'DIGITAL',
         CASE WHEN i % 1000 <> 0 THEN 'blue wool' ELSE 'blue' END, i * 7919 % 50021, 'EUR'
       FROM generate_series(1, $1::integer) i`,
    [Math.ceil(((MAXIMUM_SORTED + MORE) * 1000) / 999)],
  );
}, 60_000);
afterAll(() => service.stop());

interface Answer {
  readonly count: string;
  readonly objects: readonly { readonly productID: string }[];
}

async function read(list: string): Promise<[count: string, products: string[]]> {
  const path = `/products?q=${encodeURIComponent(SEARCH)}&limit=3&${list}`;
  const { body } = await service.get(path).expect(200);
  const { count, objects } = body.response_data as Answer;
  return [count, objects.map(({ productID }) => productID)];
}

async function plain(offset: number, order: string): Promise<[count: string, products: string[]]> {
  const [row] = await service.dataSource.query<[{ count: string; products: string[] }]>(
    `SELECT (SELECT count(*) FROM products WHERE name = $1)::text AS count, ARRAY(
       SELECT "productID" FROM products WHERE name = $1 ORDER BY ${order} LIMIT 3 OFFSET $2
     ) AS products`,
    [SEARCH, offset],
  );
  return [row.count, row.products];
}

async function compare(): Promise<void> {
  for (const offset of [0, 1, 24_000, 26_000, MAXIMUM_SORTED - 2, MAXIMUM_SORTED + MORE - 1]) {
    for (const [sort, order] of [
      ['productID', '"productID"'],
      ['-price', 'price DESC, "productID" DESC'],
    ] as const) {
      const list = `offset=${offset}&sort=${sort}`;
      expect({ list, page: await read(list) }).toEqual({ list, page: await plain(offset, order) });
    }
  }
}

it('Objects with words are found at once if they are few, and counted and read in order if they are many', async () => {
  const count = async (): Promise<number> => Number((await plain(0, '"productID"'))[0]);
  expect(await count()).toBeGreaterThan(MAXIMUM_SORTED);
  await compare();
  // Now as many as are found at once.
  await service.dataSource.query(
    `DELETE FROM products WHERE "productID" IN (
       SELECT "productID" FROM products WHERE name = $1 ORDER BY price LIMIT $2
     )`,
    [SEARCH, (await count()) - MAXIMUM_SORTED],
  );
  expect(await count()).toBe(MAXIMUM_SORTED);
  await compare();
  await service.dataSource.query(`DELETE FROM products WHERE "productID" > 'p000005'`);
  await compare();
}, 60_000);
