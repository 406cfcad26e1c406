import { beforeAll, expect, it } from '@jest/globals';
import { MAXIMUM_SORTED } from '#server/database/planner.js';
import { sharedService } from '../service.js';
import { comparePage, type PlainResource } from '#server/testing/oracle.js';

/** Two words, whose objects the tally does not count. */
const SEARCH = 'blue wool';
const MORE = 20;

const service = sharedService({ PAGE_CACHE_MB: '0', QUERY_TIMEOUT_MS: '60000' });

beforeAll(async () => {
  await service.dataSource.query(
    `INSERT INTO products ("productID", type, name, price, currency)
       SELECT 'p' || lpad(i::text, 6, '0'), 'DIGITAL',
         CASE WHEN i % 1000 <> 0 THEN 'blue wool' ELSE 'blue' END, i * 7919 % 50021, 'EUR'
       FROM generate_series(1, $1::integer) i`,
    [Math.ceil(((MAXIMUM_SORTED + MORE) * 1000) / 999)],
  );
});

const PRODUCTS: PlainResource = {
  path: '/products',
  table: 'products',
  identifier: 'productID',
  sorts: [],
  filters: { q: { columns: [], sample: () => SEARCH, keeps: (words) => `name = '${words}'` } },
};

/** Compares pages of the list, whose count it returns. */
async function compare(): Promise<number> {
  let count = NaN;
  for (const offset of [0, 1, 24_000, 26_000, MAXIMUM_SORTED - 2, MAXIMUM_SORTED + MORE - 1]) {
    for (const sort of ['productID', '-price']) {
      const request = { q: SEARCH, limit: '3', offset: String(offset), sort };
      count = Number((await comparePage(service, PRODUCTS, request)).count);
    }
  }
  return count;
}

it('Objects with words are collected once if they are few, and counted and read in order if they are many', async () => {
  const many = await compare();
  expect(many).toBeGreaterThan(MAXIMUM_SORTED);
  // Now as many as are collected.
  await service.dataSource.query(
    `DELETE FROM products WHERE "productID" IN (
       SELECT "productID" FROM products WHERE name = $1 ORDER BY price LIMIT $2
     )`,
    [SEARCH, many - MAXIMUM_SORTED],
  );
  expect(await compare()).toBe(MAXIMUM_SORTED);
  await service.dataSource.query(`DELETE FROM products WHERE "productID" > 'p000005'`);
  await compare();
});
