import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import {
  andFirst,
  anyValue,
  consecutive,
  FENCE,
  NO_LIMIT,
  unindexed,
  unindexedEquality,
  unindexedText,
  valueFrom,
} from '#server/database/planner.js';
import { type Service, startService } from '../service.js';

let service: Service;

beforeAll(async () => {
  // A loaded machine inserts slowly.
  service = await startService({ QUERY_TIMEOUT_MS: '60000' });
  await service.dataSource.query(
    `INSERT INTO categories ("categoryID", name)
       SELECT id, 'C' FROM unnest('{few,many}' || ARRAY(SELECT 'c' || generate_series(0, 9))) id`,
  );
  await service.dataSource.query(
    `INSERT INTO products ("productID", type, "categoryID", name, price, currency)
       SELECT 'p' || lpad(i::text, 5, '0'), 'DIGITAL',
         CASE WHEN i % 500 = 0 THEN 'few' WHEN i % 20 = 0 THEN 'c' || i / 20 % 10 ELSE 'many' END,
         repeat('n', 200), i * 7919 % 20011, 'EUR'
       FROM generate_series(1, 20000) i`,
  );
  await service.dataSource.query('VACUUM ANALYZE products');
});
afterAll(() => service.stop());

interface Node {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Parallel Aware': boolean;
  readonly 'Plan Rows': number;
  readonly Plans?: readonly Node[];
}

/** The plan of a statement: its nodes, the outer ones first. */
async function planOf(
  text: string,
  session: Pick<EntityManager, 'query'> = service.dataSource,
): Promise<Node[]> {
  const [row] = await session.query<[{ 'QUERY PLAN': [{ Plan: Node }] }]>(
    `EXPLAIN (FORMAT JSON) ${text}`,
  );
  const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
  return nodesOf(row['QUERY PLAN'][0].Plan);
}

async function typesOf(...of: Parameters<typeof planOf>): Promise<string[]> {
  return (await planOf(...of)).map((node) => node['Node Type']);
}

async function indexesOf(...of: Parameters<typeof planOf>): Promise<string[]> {
  const names = (await planOf(...of)).map((node) => node['Index Name'] ?? '');
  return [...new Set(names)].filter(Boolean);
}

it('FENCE: objects are looked up one by one, and not by a hash of the table', async () => {
  const lookup = (end: string): string => `
    WITH page AS MATERIALIZED (SELECT "productID" FROM products LIMIT (SELECT 50))
    SELECT object.* FROM page CROSS JOIN LATERAL (
      SELECT * FROM products object WHERE object."productID" = page."productID" ${end}
    ) object`;
  expect(await typesOf(lookup(''))).toContain('Hash Join');
  const fenced = await typesOf(lookup(FENCE));
  expect(fenced).toContain('Index Scan');
  expect(fenced).not.toContain('Hash Join');
});

it('anyValue: the plan is that for any value', async () => {
  const rows = async (value: string): Promise<number | undefined> =>
    (await planOf(`SELECT FROM products WHERE price >= ${value}`))[0]?.['Plan Rows'];
  expect(await rows('1')).not.toBe(await rows('20000'));
  expect(await rows(anyValue('1'))).toBe(await rows(anyValue('20000')));
});

describe('The index in the order of the list is read', () => {
  const inOrder = (...conditions: string[]): string =>
    `SELECT "productID" FROM products WHERE ${conditions.join(' AND ')} ORDER BY price, "productID" LIMIT 5`;

  it('unindexed: and not that of a condition', async () => {
    const condition = `"categoryID" = 'few'`;
    expect(await indexesOf(inOrder(condition))).toEqual(['products_by_categoryID']);
    expect(await indexesOf(inOrder(unindexed(condition)))).toEqual(['products_by_price']);
  });

  it('unindexedText: and not that of a column', async () => {
    const place = `(price, "productID") >= (100, 'p')`;
    expect(await indexesOf(inOrder(place, `"categoryID" = 'few'`))).toEqual([
      'products_by_categoryID',
    ]);
    expect(await indexesOf(inOrder(place, `${unindexedText('"categoryID"')} = 'few'`))).toEqual([
      'products_by_price',
    ]);
  });

  it('unindexedEquality: and not that of an equality', async () => {
    const place = `(price, "productID") >= (100, 'p')`;
    expect(await indexesOf(inOrder(place, unindexedEquality('"categoryID"', `'few'`)))).toEqual([
      'products_by_price',
    ]);
  });

  it('andFirst: from the place on, and not from the end of an interval', async () => {
    const [interval, place] = ['price <= 300', `(price, "productID") < (200, 'p')`];
    const begins = async (where: string): Promise<string | undefined> => {
      const nodes = await planOf(
        `SELECT "productID" FROM products ${where} ORDER BY price DESC, "productID" DESC LIMIT 5`,
      );
      return nodes.find((node) => node['Index Cond'])?.['Index Cond'];
    };
    expect(await begins(`WHERE ${interval} AND ${place}`)).toMatch(/^\(+price/);
    expect(await begins(andFirst(`WHERE ${interval}`, place))).toMatch(/^\(+ROW\(/);
  });
});

it('NO_LIMIT: an index in the order of the list is read in a table that was just written', async () => {
  await service.dataSource.transaction(async (session) => {
    await session.query(`
      CREATE TEMP TABLE written ON COMMIT DROP AS SELECT * FROM products;
      CREATE INDEX written_by_price ON written (price, "productID");
      CREATE UNIQUE INDEX written_by_id ON written ("productID");
      ANALYZE written`);
    // As of a list whose index carries one of two conditions.
    const page = (end: string): string => `
      SELECT price, "productID" FROM (
        SELECT candidate.* FROM (
          SELECT price, "productID" FROM written object WHERE type = 'DIGITAL'
          ORDER BY price, "productID" ${end}
        ) candidate CROSS JOIN LATERAL (
          SELECT FROM written object
          WHERE name LIKE '%n%' AND object."productID" = candidate."productID" ${FENCE}
        ) matching
      ) object ORDER BY price, "productID" LIMIT 50`;
    expect(await typesOf(page(''), session)).toContain('Sort');
    expect(await indexesOf(page(`LIMIT ${NO_LIMIT}`), session)).toContain('written_by_price');
    expect(await typesOf(page(`LIMIT ${NO_LIMIT}`), session)).not.toContain('Sort');
  });
});

it('consecutive: no part is read beside another', async () => {
  await service.dataSource.transaction(async (session) => {
    // As if the table was large enough for parallel workers.
    for (const cost of [
      'parallel_setup_cost',
      'parallel_tuple_cost',
      'min_parallel_table_scan_size',
    ])
      await session.query(`SET LOCAL ${cost} = 0`);
    const page = (end: string): string => {
      const parts = ['price > 10000', 'price <= 10000'].map(
        (branch) =>
          `SELECT price, "productID" FROM products WHERE ${branch} ORDER BY price, "productID" ${end}`,
      );
      return consecutive(parts, 'LIMIT (SELECT 50)');
    };
    const isParallel = async (end: string): Promise<boolean> =>
      (await planOf(page(end), session)).some(
        (node) => node['Parallel Aware'] && node['Node Type'] === 'Append',
      );
    expect(await isParallel('')).toBe(true);
    expect(await isParallel('LIMIT 50')).toBe(false);
  });
});

it('valueFrom: the index of a value is read', async () => {
  const [value, lowest] = [anyValue(`'few'::text`), anyValue(`'p'::text`)];
  const page = (...conditions: string[]): string =>
    `SELECT * FROM products WHERE ${conditions.join(' AND ')} ORDER BY "categoryID", "productID" LIMIT (SELECT 50)`;
  const equality = [`"categoryID" = ${value}`, `"productID" >= ${lowest}`];
  expect(await indexesOf(page(...equality))).not.toContain('products_by_categoryID');
  const from = valueFrom(['"categoryID"', '"productID"'], value, lowest);
  expect(await indexesOf(page(...from))).toEqual(['products_by_categoryID']);
});
