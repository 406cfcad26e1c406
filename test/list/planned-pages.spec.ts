import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { primaryPool } from '../../src/database/read-pool.js';
import { type Service, startService } from '../service.js';

let service: Service;

beforeAll(async () => {
  // With one connection, whose prepared statements are read.
  service = await startService({ PAGE_CACHE_MB: '0', POOL_SIZE: '1' });
});
afterAll(() => service.stop());

it('A page behind an object is planned once for each order of all products, and not for what clients choose besides', async () => {
  // So many that a plan for the values would seem cheaper.
  await service.dataSource.query(
    `INSERT INTO products ("productID", type, price, currency)
       SELECT 'p' || lpad(i::text, 5, '0'), 'DIGITAL', i, 'EUR' FROM generate_series(1, 10000) i`,
  );
  await service.dataSource.query('ANALYZE products');
  /** How often the prepared pages were read without planning them for their values. */
  const planned = async (): Promise<number> => {
    // On the connection that was free last.
    const { rows } = await primaryPool(service.dataSource).query<{ generic: number }>(
      `SELECT coalesce(sum(generic_plans), 0)::integer AS generic FROM pg_prepared_statements
         WHERE statement LIKE '%anchor AS MATERIALIZED%'`,
    );
    return rows[0]?.generic ?? NaN;
  };
  const readPlanned = async (list: string): Promise<number> => {
    const before = await planned();
    for (let at = 10; at < 20; at += 1)
      await service.get(`/products?${list}&after=p000${at}`).expect(200);
    return (await planned()) - before;
  };
  // PostgreSQL plans for the values five times, and then compares.
  expect(await readPlanned('sort=-price')).toBeGreaterThanOrEqual(5);
  expect(await readPlanned('limit=20')).toBeGreaterThanOrEqual(5);
  for (const list of [
    'sort=-price,name',
    'fields=name',
    'include=brand',
    'type=DIGITAL',
    'q=name',
  ]) {
    expect({ list, planned: await readPlanned(list) }).toEqual({ list, planned: 0 });
  }
});

it('A list whose conditions one index serves is planned once, if it is asked for often', async () => {
  const planned = async (): Promise<number> => {
    const { rows } = await primaryPool(service.dataSource).query<{ generic: number }>(
      `SELECT coalesce(sum(generic_plans), 0)::integer AS generic FROM pg_prepared_statements
         WHERE statement LIKE '%numbered AS MATERIALIZED%'`,
    );
    return rows[0]?.generic ?? NaN;
  };
  const readPlanned = async (list: string): Promise<number> => {
    const before = await planned();
    for (let at = 0; at < 20; at += 1) {
      // Each with a value of its own.
      const path = list.replace('@price', String(100 + at)).replace('@offset', String(1 + at));
      await service.get(`/products?${path}`).expect(200);
      await service.dataSource.query(`UPDATE products SET stock = 1 WHERE "productID" = 'p00001'`);
    }
    return (await planned()) - before;
  };
  for (const list of [
    'sort=-price&offset=@offset',
    'type=DIGITAL&sort=price&offset=@offset',
    'type=DIGITAL&inStock=true&sort=-price',
    'categoryID=a,b&sort=name',
    'priceMin=@price',
    'priceMin=@price&priceMax=5000&offset=@offset',
    'q=name&offset=@offset',
  ]) {
    expect({ list, isPlanned: (await readPlanned(list)) >= 5 }).toEqual({ list, isPlanned: true });
  }
  // The best plan depends on the values: which one is the rarest, or how many objects there are.
  for (const list of [
    'categoryID=a&brandID=b&sort=price',
    'categoryID=a&priceMin=@price',
    'categoryID=a&q=name',
    'type=DIGITAL,SERVICE&sort=price&offset=@offset',
    'stockMin=1&priceMin=@price',
    'sort=price&fields=name&offset=@offset',
    'q=name&sort=relevance',
  ]) {
    expect({ list, planned: await readPlanned(list) }).toEqual({ list, planned: 0 });
  }
});
