import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FilterCurrencies1764374400000 } from '../../src/database/migrations/1764374400000-filter-currencies.js';
import { CountStockWithType1764547200000 } from '../../src/database/migrations/1764547200000-count-stock-with-type.js';
import { CountRanges1764648000000 } from '../../src/database/migrations/1764648000000-count-ranges.js';
import { findViolations } from '../../src/verify/verify.js';
import { type Service, startService } from '../service.js';

let service: Service;

beforeAll(async () => {
  service = await startService({ PAGE_CACHE_MB: '0' });
  await service.load(
    'products',
    ['EUR', 'USD', 'EUR', null].map((currency, at) => ({
      productID: `p${at}`,
      type: 'PHYSICAL',
      currency,
    })),
  );
});
afterAll(() => service.stop());

const query = <Row>(text: string) => service.dataSource.query<Row[]>(text);

/** Every index of products, the type of the currency, and the products. */
async function state(): Promise<unknown> {
  return {
    indexes: await query(
      `SELECT indexdef FROM pg_indexes WHERE tablename = 'products' ORDER BY indexdef`,
    ),
    currency: await query(
      `SELECT format_type(atttypid, atttypmod) AS type, collname FROM pg_attribute
       JOIN pg_collation ON pg_collation.oid = attcollation
       WHERE attrelid = 'products'::regclass AND attname = 'currency'`,
    ),
    products: await query('SELECT * FROM products ORDER BY "productID"'),
  };
}

async function counted(): Promise<unknown> {
  const [row] = await query<{ counted: string[] }>(
    `SELECT counted FROM tallies WHERE resource = 'products'`,
  );
  return row?.counted.filter((columns) => columns.includes('currency'));
}

it('A catalogue goes back to lists without a filter by currency and forth, with the same products', async () => {
  const after = await state();
  const runner = service.dataSource.createQueryRunner();
  const migration = new FilterCurrencies1764374400000();
  const later = new CountStockWithType1764547200000();
  const ranges = new CountRanges1764648000000();
  try {
    await ranges.down(runner);
    await later.down(runner);
    expect(await counted()).toEqual(['currency', 'currency+type', 'categoryID+currency']);
    await migration.down(runner);
    expect(await counted()).toEqual([]);
    expect(await state()).toMatchObject({
      currency: [{ type: 'character varying(3)', collname: 'default' }],
    });
    expect(JSON.stringify(await state())).not.toContain('products_by_stock');
    await query(
      `INSERT INTO products ("productID", type, currency) VALUES ('p4', 'DIGITAL', 'USD')`,
    );
    await query(`DELETE FROM products WHERE "productID" = 'p4'`);
    await migration.up(runner);
    await later.up(runner);
    await ranges.up(runner);
  } finally {
    await runner.release();
  }
  expect(await state()).toEqual(after);
  expect(await counted()).toEqual([
    ...['currency', 'currency+type', 'categoryID+currency', 'currency+type+inStock'],
  ]);
  const { body } = await service.get('/products?currency=EUR&fields=productID').expect(200);
  expect(body.response_data).toEqual({
    count: '2',
    objects: [{ productID: 'p0' }, { productID: 'p2' }],
  });
  expect(await findViolations(service.application)).toEqual([]);
});
