import { expect, it, jest } from '@jest/globals';
import type { QueryConfig } from 'pg';
import type { EntityMetadata } from 'typeorm';
import { primaryPool } from '#server/private-api/database.js';
import { PreparedStatements } from '#server/list/statement/prepared-statements.js';
import { TallyMaintenance } from '#server/tally/maintain.js';
import { Product } from '../../src/products/product.entity.js';
import { sharedService } from '../service.js';
import { until } from '../until.js';

// With one connection, whose prepared statements are read.
const service = sharedService({ PAGE_CACHE_MB: '0', POOL_SIZE: '1', QUERY_TIMEOUT_MS: '60000' });

function products(): EntityMetadata {
  return service.dataSource.getMetadata(Product);
}

/** How often the prepared statements with a table of this name were executed without planning them for their values. */
async function genericPlans(table: string): Promise<number> {
  // On the connection that was free last.
  const { rows } = await primaryPool(service.dataSource).query<{ generic: number }>(
    `SELECT coalesce(sum(generic_plans), 0)::integer AS generic FROM pg_prepared_statements
       WHERE statement LIKE $1`,
    [`%${table} AS MATERIALIZED%`],
  );
  return rows[0]?.generic ?? NaN;
}

it('A page behind an object is planned once for each order of all products, and not for what clients choose besides', async () => {
  // So many that a plan for the values would seem cheaper.
  await service.dataSource.query(
    `INSERT INTO products ("productID", type, price, currency)
       SELECT 'p' || lpad(i::text, 5, '0'), 'DIGITAL', i, 'EUR' FROM generate_series(1, 10000) i`,
  );
  await service.dataSource.query('ANALYZE products');
  const readPlanned = async (list: string): Promise<number> => {
    const before = await genericPlans('anchor');
    for (let at = 10; at < 20; at += 1)
      await service.get(`/products?${list}&after=p000${at}`).expect(200);
    return (await genericPlans('anchor')) - before;
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
  const readPlanned = async (list: string): Promise<number> => {
    const before = await genericPlans('numbered');
    for (let at = 0; at < 20; at += 1) {
      // Each with a value of its own.
      const path = list.replace('@price', String(100 + at)).replace('@offset', String(1 + at));
      await service.get(`/products?${path}`).expect(200);
      await service.dataSource.query(`UPDATE products SET stock = 1 WHERE "productID" = 'p00001'`);
    }
    return (await genericPlans('numbered')) - before;
  };
  for (const list of [
    'sort=-price&offset=@offset',
    'type=DIGITAL&sort=price&offset=@offset',
    'type=DIGITAL&inStock=true&sort=-price',
    'categoryID=a,b&sort=name',
    'priceMin=@price',
    'priceMin=@price&priceMax=5000&sort=-price&offset=@offset',
    'q=name&offset=@offset',
    'categoryID=a&q=name',
  ]) {
    expect({ list, isPlanned: (await readPlanned(list)) >= 5 }).toEqual({ list, isPlanned: true });
  }
  // The best plan depends on the values: which one is the rarest, or how many objects there are.
  for (const list of [
    'categoryID=a&brandID=b&sort=price',
    'categoryID=a&priceMin=@price',
    'categoryID=a&type=DIGITAL&priceMax=@price&sort=name',
    'categoryID=a&priceMin=@price&offset=@offset',
    'categoryID=a&inStock=true&priceMin=@price',
    'categoryID=a&q=name&sort=price',
    'categoryID=a,b&q=name',
    'categoryID=a&q=name&offset=@offset',
    'type=DIGITAL,SERVICE&sort=price&offset=@offset',
    'stockMin=1&priceMin=@price',
    'priceMin=@price&offset=@offset',
    'sort=price&fields=name&offset=@offset',
    'q=name&sort=relevance',
  ]) {
    expect({ list, planned: await readPlanned(list) }).toEqual({ list, planned: 0 });
  }
});

it.each([
  ['categoryID=a', `'categoryID=a', 1, 'a'`],
  ['categoryID=a&offset=1', `'categoryID=a', 1, 1, 'a'`],
  ['type=DIGITAL', `'type=DIGITAL', 1, 'DIGITAL'`],
])('The plan of the page %s does not depend on its values', async (list, values) => {
  const pool = primaryPool(service.dataSource);
  // Clients choose the fields, so that the statement is prepared once it is frequent.
  for (let time = 0; time < 5; time += 1) {
    await service.get(`/products?${list}&fields=name,price`).expect(200);
  }
  const { rows } = await pool.query<{ name: string }>(
    `SELECT name FROM pg_prepared_statements WHERE statement LIKE '%position AS MATERIALIZED%'
     ORDER BY prepare_time DESC LIMIT 1`,
  );
  const costs: number[] = [];
  // With its values, the planner would see that the page has one object.
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await pool.query(`SET plan_cache_mode = ${mode}`);
    const { rows: plans } = await pool.query<{
      'QUERY PLAN': [{ Plan: { 'Total Cost': number } }];
    }>(`EXPLAIN (FORMAT JSON) EXECUTE "${rows[0]?.name}" (${values})`);
    costs.push(plans[0]?.['QUERY PLAN'][0].Plan['Total Cost'] ?? NaN);
  }
  await pool.query('RESET plan_cache_mode');
  const [custom = NaN, generic = NaN] = costs;
  expect(custom / generic).toBeCloseTo(1, 2);
});

it('A list in descending order reads the index of its column backwards, at every offset, and sorts no objects', async () => {
  interface Node {
    readonly 'Node Type': string;
    readonly 'Subplan Name'?: string;
    readonly 'Index Name'?: string;
    readonly 'Index Cond'?: string;
    readonly 'Scan Direction'?: string;
    readonly Plans?: readonly Node[];
  }
  await service.dataSource.query(`TRUNCATE products CASCADE`);
  await service.dataSource.query(
    `INSERT INTO products ("productID", type, price, currency, stock)
       SELECT 'p' || lpad(i::text, 5, '0'), (ARRAY['PHYSICAL', 'DIGITAL'])[1 + (i % 10) / 6]::product_type,
         CASE WHEN i % 9 > 0 THEN i * 7919 % 400 END, 'EUR', i % 3
       FROM generate_series(1, 8000) i`,
  );
  await service.dataSource.query('ANALYZE products');
  const maintenance = new TallyMaintenance(service.dataSource, products());
  await until(() => maintenance.run());
  const pool = primaryPool(service.dataSource);
  const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
  const asked = jest.spyOn(pool, 'query');
  for (const list of [
    ...['offset=0', 'offset=40', 'offset=3000', 'offset=7500', 'after=p00100'],
    ...['type=DIGITAL&offset=40', 'type=DIGITAL&offset=1500', 'type=DIGITAL&after=p00100'],
    ...['priceMax=300&offset=40', 'priceMax=300&offset=3000', 'priceMax=300&after=p00100'],
  ]) {
    // Another version of the resource, so that nothing is remembered.
    await service.dataSource.query(`UPDATE products SET stock = 1 WHERE "productID" = 'p00001'`);
    asked.mockClear();
    await service.get(`/products?sort=-price&limit=3&fields=name&${list}`).expect(200);
    const statements = asked.mock.calls.map(([query]) => query as unknown as QueryConfig);
    const page = statements.find(({ text }) => text.includes('picked AS'));
    const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `EXPLAIN (FORMAT JSON) ${page?.text}`,
      page?.values,
    );
    const picked = rows
      .flatMap(({ 'QUERY PLAN': [{ Plan }] }) => nodesOf(Plan))
      .filter((node) => node['Subplan Name'] === 'CTE picked')
      .flatMap(nodesOf);
    const scans = picked.flatMap(({ 'Index Name': index, 'Scan Direction': direction }) =>
      index === undefined ? [] : [`${index} ${direction}`],
    );
    const sorts = picked.filter((node) => node['Node Type'].includes('Sort')).length;
    expect({ list, scans: [...new Set(scans)], sorts }).toEqual({
      list,
      scans: ['products_by_price Backward'],
      sorts: 0,
    });
    // At the place of the page, not at the end of the interval.
    const begins = picked.find((node) => node['Index Cond'])?.['Index Cond'];
    if (list !== 'offset=0')
      expect({ list, begins }).toEqual({ list, begins: expect.stringMatching(/^\(+ROW\(/) });
  }
  asked.mockRestore();
});

it('When as many lists are prepared as may be, any other is planned for its values', async () => {
  const asked = jest.spyOn(primaryPool(service.dataSource), 'query');
  const isPlannedOnce = async (list: string): Promise<boolean> => {
    asked.mockClear();
    await service.get(`/products?${list}`).expect(200);
    const texts = asked.mock.calls.map(([query]) => (query as unknown as { text: string }).text);
    return texts.some((text) => text.includes('(SELECT $1::numeric)'));
  };
  expect(await isPlannedOnce('priceMin=1&sort=createdAt')).toBe(true);
  const statements = service.application.get(PreparedStatements);
  for (let at = 0; at < 100; at += 1) {
    for (let time = 0; time < 5; time += 1) {
      statements.of(products(), `SELECT ${at}`, 'if frequent');
    }
  }
  expect(await isPlannedOnce('priceMin=2&sort=createdAt')).toBe(false);
  asked.mockRestore();
});
