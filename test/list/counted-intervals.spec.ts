import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { resourcesOf } from '../../src/resource/resource.js';
import { TallyMaintenance } from '../../src/list/tally/maintain.js';
import { miscounts } from '../../src/verify/miscounts.js';
import { Random } from '../random.js';
import { type Service, startService } from '../service.js';
import { until } from '../until.js';

let service: Service;

const PRODUCTS = 9000;

beforeAll(async () => {
  service = await startService({ PAGE_CACHE_MB: '0' });
  await query(
    `INSERT INTO categories ("categoryID", name) VALUES ('c0', 'A'), ('c1', 'B'), ('c2', 'C')`,
  );
  // Five of nine are in the first category, one of nine in the last. Prices repeat, and some are missing.
  await query(
    `INSERT INTO products ("productID", type, "categoryID", name, price, currency)
     SELECT 'p' || lpad(i::text, 6, '0'), (ARRAY['PHYSICAL', 'PHYSICAL', 'DIGITAL'])[1 + i % 3]::product_type,
       'c' || CASE WHEN i % 9 < 5 THEN 0 WHEN i % 9 < 8 THEN 1 ELSE 2 END, 'n' || i % 1000,
       CASE WHEN i % 50 > 0 THEN round((i * 7919) % 3001 / 4.0, 2) END, 'EUR'
     FROM generate_series(1, ${PRODUCTS}) i`,
  );
});
afterAll(() => service.stop());

function query<Row>(sql: string): Promise<Row[]> {
  return service.dataSource.query<Row[]>(sql);
}

async function maintain(): Promise<void> {
  const products = resourcesOf(service.dataSource).get('products');
  if (!products) throw new Error('There is no resource products');
  const maintenance = new TallyMaintenance(service.dataSource, products);
  // The lock of a cut times out beside autovacuum.
  await until(() => maintenance.run());
  expect(await miscounts(service.dataSource, products)).toEqual([]);
}

interface Shown {
  readonly productID: string;
}

/** Compares the count and a page of lists of intervals with plain SQL, and of some lists all objects as a stream. */
async function compare(random: Random, lists: number): Promise<void> {
  for (let list = 0; list < lists; list += 1) {
    const price = (): string => (random.below(3100) / 4).toFixed(2);
    const category = random.chance(0.8) ? `c${random.below(4)}` : undefined;
    const type = random.chance(0.5)
      ? random.pick(['PHYSICAL', 'DIGITAL', 'PHYSICAL,DIGITAL'])
      : undefined;
    const minimum = random.chance(0.8) ? price() : undefined;
    const isNarrow = minimum !== undefined && random.chance(0.3);
    const end = isNarrow ? String(Number(minimum) + 1) : price();
    const maximum = random.chance(0.8) ? end : undefined;
    const [by, order] = random.pick([
      ['productID', '"productID"'],
      ['-productID', '"productID" DESC'],
      ['name', 'name, "productID"'],
      ['-price', 'price DESC NULLS LAST, "productID" DESC'],
      ['price,-name', 'price, name DESC, "productID" DESC'],
    ] as const);
    const offset = random.chance(0.5) ? 0 : random.below(category ? 300 : PRODUCTS);
    // A list with every field is planned once.
    const fields = random.chance(0.5) ? 'productID' : undefined;
    const where = [
      'true',
      ...(category ? [`"categoryID" = '${category}'`] : []),
      ...(type ? [`type = ANY('{${type}}')`] : []),
      ...(minimum ? [`price >= ${minimum}`] : []),
      ...(maximum ? [`price <= ${maximum}`] : []),
    ].join(' AND ');
    const parameters = new URLSearchParams({
      ...(category && { categoryID: category }),
      ...(type && { type }),
      ...(minimum && { priceMin: minimum }),
      ...(maximum && { priceMax: maximum }),
      ...(by !== 'productID' && { sort: by }),
      ...(fields && { fields }),
      offset: String(offset),
    });
    const [plain] = await query<{ count: string; ids: string[] }>(
      `SELECT (SELECT count(*) FROM products WHERE ${where})::text AS count, ARRAY(
         SELECT "productID" FROM products WHERE ${where} ORDER BY ${order} LIMIT 5 OFFSET ${offset}
       ) AS ids`,
    );
    const { count, ids: first = [] } = plain ?? {};
    // The second time, the count is known.
    for (const limit of [3, 3, 5]) {
      parameters.set('limit', String(limit));
      const path = `/products?${parameters.toString()}`;
      const { body } = await service.get(path).expect(200);
      const page = body.response_data as { count: string; objects: Shown[] };
      const ids = page.objects.map(({ productID }) => productID);
      expect({ path, count: page.count, ids }).toEqual({ path, count, ids: first.slice(0, limit) });
    }
    if (list % 5 === 0) {
      parameters.delete('limit');
      parameters.delete('offset');
      const whole = `/products?${parameters.toString()}`;
      const { headers, text } = await service.get(whole).set('Accept', 'application/x-ndjson');
      const lines = String(text.split('\n').length - 1);
      expect({ whole, count: headers['x-total-count'], lines }).toEqual({
        whole,
        count,
        lines: count,
      });
    }
  }
}

it('Intervals of prices, also within categories, have the count and any page of plain SQL, cut or not, after any change', async () => {
  const random = new Random('intervals');
  await compare(random, 30);
  await maintain();
  // So few objects lie in each range that the index by price is read for few others.
  const cut = await query<{ facet: string }>(
    `SELECT facet FROM products_tally_by_price GROUP BY facet HAVING count(*) > 3`,
  );
  expect(cut.map(({ facet }) => facet)).toEqual(
    expect.arrayContaining(['categoryID=c0', 'categoryID+type=2:c0PHYSICAL']),
  );
  await compare(random, 60);
  await query(
    `UPDATE products SET price = price + 20, "categoryID" = 'c0' WHERE "productID" < 'p001500'`,
  );
  await query(`DELETE FROM products WHERE "productID" LIKE '%7'`);
  await query(`UPDATE products SET price = NULL WHERE "productID" LIKE '%33'`);
  await query(`UPDATE products SET price = 100 WHERE "productID" = 'p000111'`);
  await compare(random, 60);
  await maintain();
  await compare(random, 30);
});
