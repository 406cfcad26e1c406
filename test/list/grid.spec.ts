import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Between,
  type EntityMetadata,
  type FindOperator,
  IsNull,
  LessThan,
  LessThanOrEqual,
  MoreThan,
  MoreThanOrEqual,
  Not,
} from 'typeorm';
import { ReservedConnections } from '../../src/database/reserved-connections.js';
import { ListReader } from '../../src/list/reading/list-reader.js';
import { Listing } from '../../src/list/listing/listing.js';
import { GridBounds } from '../../src/list/tally/grid-bounds.js';
import { gridsOf } from '../../src/list/tally/grid.js';
import { TallyMaintenance } from '../../src/list/tally/maintain.js';
import { Product } from '../../src/products/product.entity.js';
import { miscounts } from '../../src/verify/miscounts.js';
import { Random } from '../random.js';
import { type Service, startService } from '../service.js';
import { until } from '../until.js';

const PRODUCTS = 12_000;
const MINIMUM = 5000;
const BOUNDS = 'products_tally_by_price_grid_bounds';

let service: Service;
let metadata: EntityMetadata;
let bounds: GridBounds;

beforeAll(async () => {
  service = await startService({ PAGE_CACHE_MB: '0', QUERY_TIMEOUT_MS: '60000' });
  metadata = service.dataSource.getMetadata(Product);
  bounds = gridBounds(MINIMUM);
  await load();
});
afterAll(() => service.stop());

const query = <Row>(text: string) => service.dataSource.query<Row[]>(text);

function gridBounds(minimum?: number): GridBounds {
  const [grid] = gridsOf(metadata);
  if (!grid) throw new Error('Products have no grid');
  return new GridBounds(service.application.get(ReservedConnections), metadata, grid, minimum);
}

/** Prices from 0 to 750, a sixth of them 100. */
const PRICES = 'CASE WHEN i % 6 = 0 THEN 100 ELSE round((i * 7919) % 3001 / 4.0, 2) END';

/** Products, and some without a price. */
async function load(prices = PRICES): Promise<void> {
  await query(
    `INSERT INTO products ("productID", type, price, currency)
     SELECT 'p' || lpad((i * 7 % 30011)::text, 6, '0'), 'DIGITAL',
       CASE WHEN i % 50 > 0 THEN ${prices} END, 'EUR'
     FROM generate_series(1, ${PRODUCTS}) i`,
  );
}

async function cut(): Promise<void> {
  await until(() => new TallyMaintenance(service.dataSource, metadata).run());
}

async function expectExactCounts(): Promise<void> {
  expect(await miscounts(service.dataSource, metadata)).toEqual([]);
}

/** The bounds, as one text for each choice of them. */
async function chosen(): Promise<{ values: string[]; choice: string; is_counted: boolean }[]> {
  return query(
    `SELECT value_bounds::text[] AS values, ctid::text || identifier_bounds::text AS choice, is_counted
     FROM ${BOUNDS}`,
  );
}

/** An interval of prices in SQL, and as a condition of a list. */
interface PriceInterval {
  readonly sql: string;
  readonly price: FindOperator<unknown>;
}

const ALL: PriceInterval = { sql: 'price IS NOT NULL', price: Not(IsNull()) };

async function page(
  { price }: PriceInterval,
  direction: 'ASC' | 'DESC',
  offset: number,
  limit = 5,
): Promise<{ count: string; objects: unknown }> {
  const repository = service.dataSource.getRepository(Product);
  const sort = [{ field: 'productID', direction }];
  const listing = new Listing(
    repository,
    { fields: ['productID'], sort, offset, limit },
    [{ price }],
    ['products'],
  );
  const { count, objects } = await service.application.get(ListReader).prepare(listing).read();
  return { count, objects: JSON.parse(objects) as unknown };
}

/** Compares the count and a page of intervals with plain SQL. */
async function compare(random: Random, lists: number): Promise<void> {
  const [edges] = await chosen();
  const bound = (): string =>
    edges && random.chance(0.3)
      ? random.pick(edges.values)
      : random.pick(['100', '0', '-1', '751', (random.below(3100) / 4).toFixed(2)]);
  for (let list = 0; list < lists; list += 1) {
    const [one, other] = [bound(), bound()];
    const interval = random.pick<PriceInterval>([
      { sql: `price >= ${one}`, price: MoreThanOrEqual(one) },
      { sql: `price > ${one}`, price: MoreThan(one) },
      { sql: `price <= ${one}`, price: LessThanOrEqual(one) },
      { sql: `price < ${one}`, price: LessThan(one) },
      { sql: `price BETWEEN ${one} AND ${other}`, price: Between(one, other) },
      { sql: `price BETWEEN 1 AND ${other}`, price: Between('1', other) },
      ALL,
    ]);
    const direction = random.pick(['ASC', 'DESC'] as const);
    const offset = random.pick([1, 1000]) + random.below(PRODUCTS);
    const [plain] = await query<{ count: string; objects: unknown }>(
      `SELECT (SELECT count(*) FROM products WHERE ${interval.sql})::text AS count, coalesce((
         SELECT json_agg(page) FROM (
           SELECT "productID" FROM products WHERE ${interval.sql}
           ORDER BY "productID" ${direction} LIMIT 5 OFFSET ${offset}
         ) page
       ), '[]') AS objects`,
    );
    const found = await page(interval, direction, offset);
    const asked = { sql: interval.sql, direction, offset };
    expect({ ...asked, ...found }).toEqual({ ...asked, ...plain });
  }
}

/** Whether a list takes its place from the grid: its page then follows a cell that is changed. */
async function isPlacedInGrid(
  interval: PriceInterval,
  direction: 'ASC' | 'DESC',
  offset: number,
): Promise<boolean> {
  const change = async (step: number): Promise<unknown> => {
    await query(
      `INSERT INTO products_tally_by_price_grid_deltas
       SELECT 1, ${direction === 'ASC' ? 0 : 'cardinality(identifier_bounds)'}, ${step} FROM ${BOUNDS}`,
    );
    // Another version of the resource, so that nothing learned holds.
    await query(`INSERT INTO resource_versions VALUES ('products', 1)`);
    return page(interval, direction, offset);
  };
  const exact = await page(interval, direction, offset);
  const previous = await page(interval, direction, offset - 1);
  const changed = await change(1);
  expect(await change(-1)).toEqual(exact);
  expect([exact, previous]).toContainEqual(changed);
  return JSON.stringify(changed) !== JSON.stringify(exact);
}

describe('A list of an interval in the order of the identifier', () => {
  const wide: PriceInterval = { sql: 'price <= 600', price: LessThanOrEqual('600') };

  it('has the count and the page of plain SQL, whether the grid is counted or not, after any change', async () => {
    const random = new Random('grid');
    await compare(random, 15);
    // Before the tallies are cut, they do not tell how the objects can be divided.
    expect(await bounds.run()).toBe(true);
    expect(await chosen()).toEqual([]);
    await cut();
    expect(await gridBounds().run()).toBe(true);
    expect(await chosen()).toEqual([]);
    expect(await bounds.run()).toBe(true);
    expect(await chosen()).toMatchObject([{ is_counted: true }]);
    await compare(random, 60);
    for (const statement of [
      `UPDATE products SET price = price + 20 WHERE "productID" < 'p001500'`,
      `UPDATE products SET price = price WHERE "productID" LIKE '%3'`,
      `UPDATE products SET price = NULL WHERE "productID" LIKE '%33'`,
      `UPDATE products SET price = 5 WHERE price IS NULL AND "productID" LIKE '%1'`,
      `UPDATE products SET "productID" = 'q' || "productID" WHERE "productID" LIKE '%77'`,
      `UPDATE products SET name = 'other' WHERE "productID" LIKE '%5'`,
      `DELETE FROM products WHERE "productID" LIKE '%7'`,
      `INSERT INTO products ("productID", type, price, currency)
       SELECT 'r' || i, 'SERVICE', i, 'EUR' FROM generate_series(1, 5) i`,
      `INSERT INTO products ("productID", type, price, currency)
       SELECT 's' || i, 'SERVICE', i, 'EUR' FROM generate_series(1, 1200) i`,
    ]) {
      await query(statement);
      await compare(random, 8);
    }
    await cut();
    expect(await query('SELECT FROM products_tally_by_price_grid_deltas')).toEqual([]);
    await expectExactCounts();
    await compare(random, 20);
  });

  it('takes a deep place from the grid in both directions, if that reads fewer objects', async () => {
    const narrow = { sql: 'price < 10', price: LessThan('10') };
    const middle = Math.floor(Number((await page(wide, 'ASC', 1)).count) / 2);
    expect(await isPlacedInGrid(wide, 'ASC', middle)).toBe(true);
    expect(await isPlacedInGrid(wide, 'DESC', middle)).toBe(true);
    expect(await isPlacedInGrid(ALL, 'ASC', middle)).toBe(true);
    expect(await isPlacedInGrid(wide, 'ASC', 20)).toBe(false);
    expect(await isPlacedInGrid(wide, 'DESC', 2 * middle - 20)).toBe(false);
    expect(await isPlacedInGrid(narrow, 'ASC', 30)).toBe(false);
    await query(`UPDATE ${BOUNDS} SET is_counted = false`);
    expect(await isPlacedInGrid(wide, 'ASC', middle)).toBe(false);
    expect(await bounds.run()).toBe(true);
    expect(await isPlacedInGrid(wide, 'ASC', middle)).toBe(true);
  });
});

describe('The bounds of a grid', () => {
  it('are not chosen while a transaction writes, and are chosen after it', async () => {
    await query(`DELETE FROM ${BOUNDS}`);
    const writer = service.dataSource.createQueryRunner();
    await writer.startTransaction();
    await writer.query(`UPDATE products SET price = 1 WHERE "productID" < 'p002'`);
    expect(await bounds.run()).toBe(false);
    expect(await chosen()).toEqual([]);
    await writer.commitTransaction();
    await writer.release();
    await query(`UPDATE products SET price = 3000 WHERE "productID" < 'p001'`);
    expect(await bounds.run()).toBe(true);
    await compare(new Random('waited'), 10);
  });

  it('are counted from the start after a count that was broken off, by one of several instances', async () => {
    await query(`UPDATE ${BOUNDS} SET is_counted = false`);
    await query(`DELETE FROM products_tally_by_price_grid WHERE random() < 0.5`);
    await query(`DELETE FROM products WHERE "productID" < 'p003'`);
    await compare(new Random('broken off'), 5);
    expect(await bounds.run(AbortSignal.abort())).toBe(false);
    expect(await chosen()).toMatchObject([{ is_counted: false }]);
    await Promise.all([bounds.run(), gridBounds(MINIMUM).run(), gridBounds(MINIMUM).run()]);
    await until(() => bounds.run());
    expect(await chosen()).toMatchObject([{ is_counted: true }]);
    await expectExactCounts();
    await compare(new Random('counted'), 10);
  });

  it('are chosen again if the objects crowd in few cells, and not for ever', async () => {
    const [before] = await chosen();
    expect(Number(before?.values.at(-1))).toBeLessThan(1000);
    await query(
      `INSERT INTO products ("productID", type, price, currency)
       SELECT 'p' || lpad((i * 13 % 30011)::text, 6, '0') || 'x', 'DIGITAL', 2000 + i % 997, 'EUR'
       FROM generate_series(1, 18000) i`,
    );
    const random = new Random('crowd');
    await compare(random, 3);
    await cut();
    await until(() => bounds.run());
    const [after] = await chosen();
    expect(after?.is_counted).toBe(true);
    expect(Number(after?.values.at(-1))).toBeGreaterThan(2000);
    await compare(random, 10);
    await expectExactCounts();
    await bounds.run();
    expect(await chosen()).toEqual([after]);
  }, 90_000);

  it('are chosen again if a value becomes frequent, and once', async () => {
    await query(`UPDATE products SET price = 433.21 WHERE price IS NOT NULL AND random() < 0.7`);
    await cut();
    await until(() => bounds.run());
    const frequent = await chosen();
    expect(frequent[0]?.values).toContain('433.21');
    await compare(new Random('frequent'), 10);
    await expectExactCounts();
    await cut();
    await bounds.run();
    expect(await chosen()).toEqual(frequent);
    expect(await query('SELECT FROM products_tally_by_price_grid WHERE count = 0')).toEqual([]);
  }, 90_000);

  it('stay when the table is emptied, and are chosen once of values that nothing divides', async () => {
    const before = await chosen();
    await query('TRUNCATE products CASCADE');
    expect(await query('SELECT FROM products_tally_by_price_grid')).toEqual([]);
    await compare(new Random('empty'), 3);
    await load('7');
    await compare(new Random('filled'), 5);
    expect(await chosen()).toEqual(before);
    await query(`DELETE FROM ${BOUNDS}`);
    await cut();
    await until(() => bounds.run());
    const after = await chosen();
    expect(after).toMatchObject([{ values: ['7'], is_counted: true }]);
    expect(await bounds.run()).toBe(true);
    expect(await chosen()).toEqual(after);
    await compare(new Random('alike'), 10);
  });

  it('have a cell with a wrong count that verify reports', async () => {
    await query(`INSERT INTO products_tally_by_price_grid_deltas VALUES (1, 1, 3), (70, 80, 2)`);
    const [right] = await query<{ count: string }>(
      `SELECT count(*) FROM products, ${BOUNDS} WHERE price >= value_bounds[1]
       AND "productID" >= identifier_bounds[1] AND "productID" < identifier_bounds[2]`,
    );
    const there = Number(right?.count);
    expect(there).toBeGreaterThan(0);
    expect(await miscounts(service.dataSource, metadata)).toEqual([
      `the grid by price of products has ${there + 3} for the cell 1, 1, where there are ${there}`,
      'the grid by price of products has 2 for the cell 70, 80, where there are 0',
    ]);
  });
});
