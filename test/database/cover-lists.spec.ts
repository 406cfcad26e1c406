import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { CoverLists1764028800000 } from '../../src/database/migrations/1764028800000-cover-lists.js';
import { FilterCurrencies1764374400000 } from '../../src/database/migrations/1764374400000-filter-currencies.js';
import { CountStockWithType1764547200000 } from '../../src/database/migrations/1764547200000-count-stock-with-type.js';
import { CountRanges1764648000000 } from '../../src/database/migrations/1764648000000-count-ranges.js';
import { findViolations } from '../../src/verify/verify.js';
import { type Service, startService } from '../service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await service.load(
    'products',
    [3, 0, -1, null].map((stock, at) => ({ productID: `p${at}`, type: 'PHYSICAL', stock })),
  );
});
afterAll(() => service.stop());

const query = <Row>(text: string) => service.dataSource.query<Row[]>(text);

function state(columns: string): Promise<unknown[]> {
  return query(
    `SELECT "productID", ${columns}, "updatedAt",
       (SELECT sum(stamp) FROM resource_versions WHERE resource = 'products') AS version
     FROM products ORDER BY "productID"`,
  );
}

it('A catalogue from before inStock was a column has it filled, and nothing else changed', async () => {
  const runner = service.dataSource.createQueryRunner();
  // They install the tally.
  await new CountRanges1764648000000().down(runner);
  await new CountStockWithType1764547200000().down(runner);
  // It replaces the same indexes.
  await new FilterCurrencies1764374400000().down(runner);
  const before = await state('"inStock"');
  expect(before).toMatchObject(
    [true, false, false, null].map((inStock, at) => ({ productID: `p${at}`, inStock })),
  );
  try {
    await new CoverLists1764028800000().down(runner);
    await expect(state('"inStock"')).rejects.toThrow('column "inStock" does not exist');
    await new CoverLists1764028800000().up(runner);
    expect(await state('"inStock"')).toEqual(before);
    await new FilterCurrencies1764374400000().up(runner);
    await new CountStockWithType1764547200000().up(runner);
    await new CountRanges1764648000000().up(runner);
  } finally {
    await runner.release();
  }
  expect(await findViolations(service.application)).toEqual([]);
});

it('inStock follows the stock, whatever a writer says', async () => {
  const written = `UPDATE products SET "inStock" = true RETURNING "inStock"`;
  expect(await query(`WITH written AS (${written}) SELECT * FROM written`)).toEqual(
    [true, false, false, null].map((inStock) => ({ inStock })),
  );
  await query(`UPDATE products SET stock = 1 WHERE "productID" = 'p3'`);
  expect(await query(`SELECT "inStock" FROM products WHERE "productID" = 'p3'`)).toEqual([
    { inStock: true },
  ]);
});
