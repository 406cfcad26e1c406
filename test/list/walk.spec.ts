import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { primaryPool } from '../../src/database/read-pool.js';
import { type Service, startService } from '../service.js';

let service: Service;

beforeAll(async () => {
  service = await startService({ PAGE_CACHE_MB: '0' });
  await service.dataSource.query(
    `INSERT INTO products ("productID", type, price, currency)
       SELECT 'p' || lpad(i::text, 5, '0'), CASE WHEN i % 2 = 0 THEN 'DIGITAL' ELSE 'SERVICE' END::product_type,
         CASE WHEN i % 7 > 0 THEN i * 7919 % 100 END, 'EUR'
       FROM generate_series(1, 1000) i`,
  );
});
afterAll(() => service.stop());

/** How many pages were read by identifiers that were known. */
async function identified(): Promise<number> {
  // On the connection that was free last.
  const { rows } = await primaryPool(service.dataSource).query<{ calls: number }>(
    `SELECT coalesce(sum(generic_plans + custom_plans), 0)::integer AS calls FROM pg_prepared_statements
       WHERE statement LIKE '%WITH ORDINALITY%'`,
  );
  return rows[0]?.calls ?? NaN;
}

interface Page {
  readonly count: string;
  readonly products: readonly string[];
}

async function page(list: string, limit: number, offset: number): Promise<Page> {
  const { body } = await service
    .get(`/products?${list}&limit=${limit}&offset=${offset}`)
    .expect(200);
  const { count, objects } = body.response_data as {
    count: string;
    objects: { productID: string }[];
  };
  return { count, products: objects.map(({ productID }) => productID) };
}

async function wanted(limit: number, offset: number): Promise<Page> {
  const rows = await service.dataSource.query<{ productID: string }[]>(
    `SELECT "productID" FROM products WHERE type = 'DIGITAL' ORDER BY price DESC NULLS LAST, "productID" DESC`,
  );
  const products = rows.map(({ productID }) => productID);
  return { count: String(products.length), products: products.slice(offset, offset + limit) };
}

it('A walk reads as many pages ahead as it has read, and none after a write', async () => {
  const list = 'type=DIGITAL&sort=-price';
  const before = await identified();
  const known: number[] = [];
  for (let at = 0; at < 12; at += 1) {
    const calls = await identified();
    expect(await page(list, 50, 50 * at)).toEqual(await wanted(50, 50 * at));
    if ((await identified()) > calls) known.push(at);
    if (at === 8) {
      // It comes before all others, so that each is a place further.
      await service.dataSource.query(
        `INSERT INTO products ("productID", type, price, currency) VALUES ('new', 'DIGITAL', 1000, 'EUR')`,
      );
    }
  }
  // The second, fourth and eighth page are found with those ahead of them. The tenth is read again, since the
  // version differs. With it the walk begins anew.
  expect(known).toEqual([2, 4, 5, 6, 8, 9]);
  expect(await identified()).toBe(before + known.length);
});

it('A walk may change its limit, and goes on behind the end', async () => {
  const list = 'type=DIGITAL&sort=-price,-productID';
  let offset = 0;
  for (const limit of [30, 30, 30, 7, 30, 100, 3, 3, 3, 3, 3, 3, 3, 0, 200, 200, 200]) {
    expect(await page(list, limit, offset)).toEqual(await wanted(limit, offset));
    offset += limit;
  }
});
