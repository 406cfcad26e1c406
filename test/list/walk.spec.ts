import { primaryPool } from '#server/private-api/database.js';
import { beforeAll, expect, it } from '@jest/globals';
import { sharedService } from '../service.js';
import { comparePage, equals, type PlainResource } from '#server/testing/oracle.js';

const service = sharedService({ PAGE_CACHE_MB: '0', POOL_SIZE: '1' });

beforeAll(async () => {
  await service.dataSource.query(
    `INSERT INTO products ("productID", type, price, currency)
       SELECT 'p' || lpad(i::text, 5, '0'), CASE WHEN i % 2 = 0 THEN 'DIGITAL' ELSE 'SERVICE' END::product_type,
         CASE WHEN i % 7 > 0 THEN i * 7919 % 100 END, 'EUR'
       FROM generate_series(1, 1000) i`,
  );
});

/** How many pages were read by identifiers that were known. */
async function identified(): Promise<number> {
  // On the one connection.
  const { rows } = await primaryPool(service.dataSource).query<{ calls: number }>(
    `SELECT coalesce(sum(generic_plans + custom_plans), 0)::integer AS calls FROM pg_prepared_statements
       WHERE statement LIKE '%WITH ORDINALITY%'`,
  );
  return rows[0]?.calls ?? NaN;
}

const PRODUCTS: PlainResource = {
  path: '/products',
  table: 'products',
  identifier: 'productID',
  sorts: [],
  filters: { type: equals('type', []) },
};

it('A walk reads as many pages ahead as it has read, and none after a write', async () => {
  const list = { type: 'DIGITAL', sort: '-price', limit: '50' };
  const before = await identified();
  const known: number[] = [];
  for (let at = 0; at < 12; at += 1) {
    const calls = await identified();
    await comparePage(service, PRODUCTS, { ...list, offset: String(50 * at) });
    if ((await identified()) > calls) known.push(at);
    if (at === 8) {
      // It comes before all others, so that each is a place further.
      await service.dataSource.query(
        `INSERT INTO products ("productID", type, price, currency) VALUES ('new', 'DIGITAL', 1000, 'EUR')`,
      );
    }
  }
  // The second, fourth and eighth page are found with those ahead of them. The tenth is read again, since the
  // version differs. With it the walk begins again.
  expect(known).toEqual([2, 4, 5, 6, 8, 9]);
  expect(await identified()).toBe(before + known.length);
});

it('A page goes on from no place where a page ended before a write', async () => {
  const list = { type: 'SERVICE', sort: '-price' };
  const compare = (offset: number, limit = 20): Promise<unknown> =>
    comparePage(service, PRODUCTS, { ...list, limit: String(limit), offset: String(offset) });
  // It tells the place of the offset 40.
  await compare(20);
  await service.dataSource.query(
    `INSERT INTO products ("productID", type, price, currency) VALUES ('newer', 'SERVICE', 1000, 'EUR')`,
  );
  await compare(0);
  // It reads ahead what is at the offset 40, but not as much as the last page asks for.
  await compare(20);
  await compare(40, 50);
});
