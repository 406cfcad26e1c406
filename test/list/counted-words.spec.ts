import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { EntityMetadata } from 'typeorm';
import type { CountedWords } from '#server/tally/counted-words.js';
import { tallyLock } from '#server/tally/maintain.js';
import { Product } from '../../src/products/product.entity.js';
import { miscounts } from '#server/verify/object-checks.js';
import { sharedService } from '../service.js';
import { until } from '../until.js';
import { productWords } from './product-words.js';

/** As many objects as a word needs to be counted. */
const MANY = 5000;

const service = sharedService({ PAGE_CACHE_MB: '0' });
let metadata: EntityMetadata;
let words: CountedWords;

beforeAll(async () => {
  metadata = service.dataSource.getMetadata(Product);
  words = productWords(service);
  await service.load('categories', [{ categoryID: 'c', name: 'C' }]);
});

const query = <Row>(text: string, values: unknown[] = []) =>
  service.dataSource.query<Row[]>(text, values);

async function load(count: number, name: string, from = 0): Promise<void> {
  await query(
    `INSERT INTO products ("productID", type, name, "categoryID", stock)
     SELECT 'p' || i, (ARRAY['PHYSICAL', 'DIGITAL'])[1 + i % 2]::product_type, $3,
       CASE WHEN i % 4 = 0 THEN 'c' END, i % 3
     FROM generate_series($1::integer, $2::integer) i`,
    [from, from + count - 1, name],
  );
  await query('ANALYZE products');
}

const counted = async () =>
  (
    await query<{ word: string }>('SELECT word FROM products_tally_by_words_counted ORDER BY word')
  ).map(({ word }) => word);

/** Whether the count of a list comes from the tally of a word: it is one higher if that is. */
async function countedByTally(list: string, word: string, facet: string): Promise<boolean> {
  const exact = await countOf(list);
  const change = async (step: number): Promise<void> => {
    await query('INSERT INTO products_tally_by_words_deltas VALUES ($1, $2, $3)', [
      ...[word, facet, step],
    ]);
    // Another version of the resource, so that nothing learned holds.
    await query(`INSERT INTO resource_versions VALUES ('products', 1)`);
  };
  await change(1);
  const changed = await countOf(list);
  await change(-1);
  expect([exact, exact + 1]).toContain(changed);
  return changed === exact + 1;
}

async function countOf(list: string): Promise<number> {
  const { body } = await service.get(`/products?${list}`).expect(200);
  return Number((body as { response_data: { count: string } }).response_data.count);
}

/** The identifiers of a page of those that are found for `lamp`, by relevance. */
async function pageOf(part: string): Promise<unknown[]> {
  const { body } = await service
    .get(`/products?q=lamp&sort=relevance&fields=productID&${part}`)
    .expect(200);
  const { objects } = (body as { response_data: { objects: { productID: string }[] } })
    .response_data;
  return objects.map(({ productID }) => productID);
}

describe('A word that many objects contain', () => {
  beforeEach(async () => {
    await query('TRUNCATE products CASCADE');
    await query('DELETE FROM products_tally_by_words_counted');
  });

  it('is counted in all, and by the values of each counted column', async () => {
    await load(MANY + 400, 'Red Lamp');
    await load(100, 'blue lamp', MANY + 400);
    expect(await words.run()).toBe(true);
    expect(await counted()).toEqual(['^lamp', '^red', 'lamp', 'red']);
    expect(await miscounts(service.dataSource, metadata)).toEqual([]);
    expect(await countedByTally('q=LAMP', 'lamp', '')).toBe(true);
    expect(await countedByTally('q=lamp&type=DIGITAL', 'lamp', 'type=DIGITAL')).toBe(true);
    expect(await countedByTally('q=lamp&type=DIGITAL,SERVICE', 'lamp', 'type=DIGITAL')).toBe(true);
    expect(await countedByTally('q=red&categoryID=c&offset=70', 'red', 'categoryID=c')).toBe(true);
    expect(await countedByTally('q=red&inStock=true&sort=-name', 'red', 'inStock=true')).toBe(true);
    expect(await countedByTally('q=L%C3%81MP&sort=relevance', 'lamp', '')).toBe(true);
    // What it does not count: beginnings, rare words, several words, and other filters.
    expect(await countedByTally('q=lam*', 'lamp', '')).toBe(false);
    expect(await countedByTally('q=lamp%20re*', 'lamp', '')).toBe(false);
    expect(await countedByTally('q=blue', 'lamp', '')).toBe(false);
    expect(await countedByTally('q=red%20lamp', 'lamp', '')).toBe(false);
    expect(await countedByTally('q=lamp&type=DIGITAL&inStock=true', 'lamp', '')).toBe(false);
    expect(await countedByTally('q=lamp&priceMin=1', 'lamp', '')).toBe(false);
    expect(await countOf('q=blue')).toBe(100);
    expect(await countOf('q=red%20lamp&categoryID=c')).toBe((MANY + 400) / 4);
  });

  it('is counted with the objects that only an identifier finds', async () => {
    await load(MANY + 400, 'lamp');
    await query(
      `INSERT INTO products ("productID", "refID", type, name) VALUES
         ('lamp', NULL, 'DIGITAL', 'torch'), ('x', 'lamp', 'DIGITAL', 'lamp'), ('y', 'lamp', 'SERVICE', NULL)`,
    );
    await query('ANALYZE products');
    await words.run();
    expect(await countedByTally('q=lamp', 'lamp', '')).toBe(true);
    expect(await countOf('q=lamp')).toBe(MANY + 403);
    expect(await countOf('q=lamp&type=DIGITAL')).toBe(MANY / 2 + 202);
    // Those that the text names come first.
    expect(await pageOf('limit=4')).toEqual(['lamp', 'x', 'y', 'p0']);
    expect(await pageOf('limit=2&offset=2')).toEqual(['y', 'p0']);
    expect(await pageOf('limit=2&after=x')).toEqual(['y', 'p0']);
    expect(await pageOf(`offset=${MANY + 401}`)).toEqual(['p998', 'p999']);
  });

  it('stays exactly counted when objects are written, deleted, moved and emptied', async () => {
    await load(MANY + 400, 'lamp');
    await words.run();
    const expectExactCount = async (): Promise<void> => {
      const [{ count }] = (await query<{ count: string }>(
        `SELECT count(*) FROM products WHERE words @@ 'lamp' AND type = 'DIGITAL'`,
      )) as [{ count: string }];
      expect(await countOf('q=lamp&type=DIGITAL')).toBe(Number(count));
      expect(await miscounts(service.dataSource, metadata)).toEqual([]);
    };
    for (const statement of [
      `UPDATE products SET name = 'other' WHERE "productID" IN ('p1', 'p2')`,
      `UPDATE products SET name = 'lamp lamp' WHERE "productID" = 'p1'`,
      `UPDATE products SET type = 'SERVICE', "categoryID" = NULL WHERE "productID" < 'p3'`,
      `UPDATE products SET "productID" = 'moved' WHERE "productID" = 'p5'`,
      `DELETE FROM products WHERE "productID" LIKE 'p4%'`,
      `DELETE FROM products WHERE "productID" = 'p5000'`,
      `INSERT INTO products ("productID", type, name) VALUES ('new', 'DIGITAL', 'a lamp')
       ON CONFLICT DO NOTHING`,
      'TRUNCATE products CASCADE',
      `INSERT INTO products ("productID", type, name) VALUES ('new', 'DIGITAL', 'a lamp')`,
    ]) {
      await query(statement);
      await expectExactCount();
    }
  });

  it('is dropped when it becomes rare, and counted again when it is frequent', async () => {
    await load(MANY + 400, 'lamp');
    await words.run();
    await query(`UPDATE products SET name = 'torch'`);
    await query('ANALYZE products');
    await words.run();
    expect(await counted()).toEqual(['^torch', 'torch']);
    expect(await query(`SELECT FROM products_tally_by_words WHERE word = 'lamp'`)).toEqual([]);
    expect(await countOf('q=lamp')).toBe(0);
    await query(`UPDATE products SET name = 'lamp' WHERE type = 'DIGITAL'`);
    await query(`UPDATE products SET name = 'lamp'`);
    await query('ANALYZE products');
    await words.run();
    expect(await countedByTally('q=lamp', 'lamp', '')).toBe(true);
    expect(await countOf('q=lamp')).toBe(MANY + 400);
  });

  it('is dropped when no fold runs, which would lock the same rows in another order', async () => {
    await load(MANY + 400, 'lamp');
    await words.run();
    await query(`UPDATE products SET name = 'torch'`);
    await query('ANALYZE products');
    const tallied = () => query(`SELECT FROM products_tally_by_words_deltas WHERE word = 'lamp'`);
    const fold = service.dataSource.createQueryRunner();
    await fold.startTransaction();
    await fold.query('SELECT pg_advisory_xact_lock(hashtext($1))', [tallyLock('products')]);
    const dropped = words.run();
    await until(
      async () =>
        (await query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)).length >
        0,
    );
    expect(await tallied()).not.toEqual([]);
    await fold.commitTransaction();
    await fold.release();
    await dropped;
    expect(await tallied()).toEqual([]);
  });

  it('is not counted while a transaction writes, and is counted after it', async () => {
    await load(MANY + 400, 'lamp');
    const writer = service.dataSource.createQueryRunner();
    await writer.startTransaction();
    await writer.query(
      `INSERT INTO products ("productID", type, name) VALUES ('x', 'DIGITAL', 'lamp')`,
    );
    expect(await words.run()).toBe(false);
    expect(await counted()).toEqual([]);
    await writer.commitTransaction();
    await writer.release();
    expect(await words.run()).toBe(true);
    expect(await countOf('q=lamp')).toBe(MANY + 401);
    expect(await miscounts(service.dataSource, metadata)).toEqual([]);
  });

  it('is counted from the start after a count that was broken off', async () => {
    await load(MANY + 400, 'lamp');
    // As a killed instance leaves it: writers record the word, but what was there is not counted.
    await query(`INSERT INTO products_tally_by_words_counted VALUES ('lamp', false)`);
    await load(7, 'lamp', 100_000);
    expect(await countOf('q=lamp')).toBe(MANY + 407);
    expect(await words.run(AbortSignal.abort())).toBe(false);
    await Promise.all([words.run(), words.run(), words.run()]);
    await until(() => words.run());
    expect(await countedByTally('q=lamp', 'lamp', '')).toBe(true);
    expect(await countOf('q=lamp')).toBe(MANY + 407);
    expect(await miscounts(service.dataSource, metadata)).toEqual([]);
  });

  it('is not counted to the end if the service stops', async () => {
    await load(MANY + 400, 'lamp');
    const blocking = service.dataSource.createQueryRunner();
    await blocking.startTransaction();
    await blocking.query('LOCK TABLE products_tally_by_words_deltas');
    const stopping = new AbortController();
    const running = words.run(stopping.signal);
    await until(async () => (await counted()).length > 0);
    stopping.abort();
    expect(await running).toBe(false);
    await blocking.rollbackTransaction();
    await blocking.release();
    await until(() => words.run());
    expect(await countOf('q=lamp')).toBe(MANY + 400);
    expect(await miscounts(service.dataSource, metadata)).toEqual([]);
  });

  it('has a wrong count that verify reports', async () => {
    await load(MANY + 400, 'lamp');
    await words.run();
    await query(
      `UPDATE products_tally_by_words_deltas SET count = count + 1
       WHERE word = 'lamp' AND facet = 'type=DIGITAL'`,
    );
    await query(
      `INSERT INTO products_tally_by_words_deltas VALUES ('lamp', '', 2), ('rare', '', 7)`,
    );
    expect(await miscounts(service.dataSource, metadata)).toEqual([
      'the tally by words of products has 5402 for lamp, where there are 5400',
      'the tally by words of products has 2701 for lamp type=DIGITAL, where there are 2700',
    ]);
  });
});
