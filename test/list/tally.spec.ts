import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { EntityManager, EntityMetadata } from 'typeorm';
import type { VersionedPage } from '#server/list/reading/prepared-list.js';
import { columnOf, resourcesOf } from '#server/resource/resource.js';
import { pageOfFacet } from '#server/list/plan/page-of-facet.js';
import { TallyMaintenance } from '#server/tally/maintain.js';
import { EVERY_OBJECT, type Facet } from '#server/tally/facet.js';
import { miscounts } from '#server/verify/object-checks.js';
import { INSTALL_PRODUCTS_TALLY } from '../schema/products-tally.js';
import { type Service, startService } from '../service.js';

let service: Service;
let products: EntityMetadata;

beforeAll(async () => {
  service = await startService();
  products = metadataOf('products');
  await query(`INSERT INTO brands ("brandID", name) VALUES ('b0', 'B'), ('b1', 'C'), ('b2', 'D')`);
  await query(
    `INSERT INTO categories ("categoryID", name) VALUES ('c0', 'A tenth'), ('c1', 'All others')`,
  );
});
afterAll(() => service.stop());
beforeEach(() => query('TRUNCATE products CASCADE'));

function metadataOf(resource: string): EntityMetadata {
  const metadata = resourcesOf(service.dataSource).get(resource);
  if (!metadata) throw new Error(`There is no resource ${resource}`);
  return metadata;
}

function query<Row>(sql: string, values?: unknown[]): Promise<Row[]> {
  return service.dataSource.query<Row[]>(sql, values);
}

/** A statement that inserts the products with numbers from `from` to `to`. */
function insertion(from: number, to: number): string {
  return `INSERT INTO products ("productID", type, "brandID", "categoryID")
    SELECT 'p' || lpad(i::text, 8, '0'),
           (ARRAY['PHYSICAL', 'DIGITAL', 'SERVICE'])[1 + i % 3]::product_type,
           CASE WHEN i % 4 < 3 THEN 'b' || i % 4 END,
           CASE WHEN i / 4 % 10 = 0 THEN 'c0' ELSE 'c1' END
    FROM generate_series(${from}, ${to}) i
    ON CONFLICT DO NOTHING`;
}

const maintain = () => new TallyMaintenance(service.dataSource, products).run();
const findings = () => miscounts(service.dataSource, products);

async function rangesOf(facet: string): Promise<{ lowest: string; count: number }[]> {
  const rows = await query<{ lowest: string; count: string }>(
    'SELECT lowest, count FROM products_tally WHERE facet = $1 ORDER BY lowest',
    [facet],
  );
  return rows.map(({ lowest, count }) => ({ lowest, count: Number(count) }));
}

/** A page by the tally, in the snapshot of a transaction. */
async function page(
  manager: EntityManager,
  facet: Facet,
  offset: number,
): Promise<{ count: string; first: string | undefined }> {
  const fields = ['productID'];
  const { text, values } = pageOfFacet(products, facet, { fields, limit: 1, offset }, ['products']);
  const [answer] = await manager.query<VersionedPage[]>(text, values);
  const [object] = JSON.parse(answer?.objects ?? '') as { productID: string }[];
  return { count: answer?.count ?? '', first: object?.productID };
}

/** The same page by count(*) and OFFSET. */
async function plainPage(
  manager: EntityManager,
  facet: Facet,
  offset: number,
): Promise<{ count: string; first: string | undefined }> {
  const conditions = facet.columns.map(
    ({ databaseName }, at) => `"${databaseName}" = '${facet.values[at]}'`,
  );
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const [answer] = await manager.query<{ count: string; first: string | null }[]>(
    `SELECT (SELECT count(*) FROM products ${where})::text AS count, (
       SELECT "productID" FROM products ${where} ORDER BY "productID" LIMIT 1 OFFSET ${offset}
     ) AS first`,
  );
  return { count: answer?.count ?? '', first: answer?.first ?? undefined };
}

/** The facet of values by property. */
function facetBy(sought: Readonly<Record<string, string>>): Facet {
  const columns = Object.keys(sought).map((name) => columnOf(products, name));
  return { columns, values: Object.values(sought) };
}

const FACETS: readonly Readonly<Record<string, string>>[] = [
  {},
  { type: 'PHYSICAL' },
  { type: 'DIGITAL' },
  { brandID: 'b1' },
  { brandID: 'none' },
  { brandID: 'b1', type: 'DIGITAL' },
  { categoryID: 'c0', brandID: 'b1' },
  { categoryID: 'c1', brandID: 'b1' },
  { categoryID: 'c1', brandID: 'none' },
];

describe('The tally', () => {
  it('is looked through for ranges to cut in few queries, however many facets were written', async () => {
    const maintenance = new TallyMaintenance(service.dataSource, products);
    expect(await maintenance.run()).toBe(true);
    await query(
      `INSERT INTO categories ("categoryID", name) SELECT 'many' || i, 'C' FROM generate_series(1, 1000) i`,
    );
    await query(
      `INSERT INTO products ("productID", type, "categoryID")
       SELECT 'many' || i, 'DIGITAL', 'many' || i FROM generate_series(1, 1000) i`,
    );
    const spy = jest.spyOn(service.dataSource, 'query');
    expect(await maintenance.run()).toBe(true);
    // Not zero, as with queries that the spy does not see.
    expect(spy.mock.calls.length).toBeGreaterThan(0);
    expect(spy.mock.calls.length).toBeLessThan(50);
    spy.mockRestore();
    expect(await findings()).toEqual([]);
    await query(`DELETE FROM products WHERE "productID" LIKE 'many%'`);
    await query(`DELETE FROM categories WHERE "categoryID" LIKE 'many%'`);
  });

  it('is folded in as many transactions as it takes', async () => {
    const maintenance = new TallyMaintenance(service.dataSource, products, 2);
    await query(insertion(1, 5));
    for (const at of [1, 2, 3, 4]) {
      await query(`DELETE FROM products WHERE "productID" = 'p0000000${at}'`);
    }
    expect(await maintenance.waiting()).toBeGreaterThan(0);
    expect(await maintenance.run()).toBe(true);
    expect(await maintenance.waiting()).toBe(0);
    expect(await findings()).toEqual([]);
    await query('DELETE FROM products');
  });

  it('has the page of any offset, cut or not, with deltas or without', async () => {
    const { manager } = service.dataSource;
    await query(insertion(1, 9000));
    for (const step of ['as deltas', 'folded and cut', 'with newer deltas']) {
      if (step === 'folded and cut') expect(await maintain()).toBe(true);
      if (step === 'with newer deltas') {
        await query(`DELETE FROM products WHERE "productID" < 'p00000500'`);
        await query(insertion(9001, 9100));
      }
      for (const facet of FACETS.map(facetBy)) {
        for (const offset of [0, 1, 1999, 2000, 2001, 4321, 8599, 8600, 8601, 9000, 1e15]) {
          const plain = await plainPage(manager, facet, offset);
          expect({ step, facet, offset, ...(await page(manager, facet, offset)) }).toEqual({
            step,
            facet,
            offset,
            ...plain,
          });
        }
      }
    }
  });

  it('is cut into ranges of some 2,000 at least, and joined again when they empty', async () => {
    await query(insertion(1, 9000));
    await maintain();
    expect((await rangesOf('')).map(({ count }) => count)).toEqual([2000, 2000, 2000, 2000, 1000]);
    expect(await rangesOf('brandID=b1')).toHaveLength(1);
    await query(
      `DELETE FROM products WHERE "productID" > 'p00000900' AND "productID" <= 'p00008960'`,
    );
    await maintain();
    expect(await rangesOf('')).toEqual([{ lowest: '', count: 940 }]);
    await query(`DELETE FROM products WHERE type <> 'DIGITAL'`);
    await maintain();
    expect(await rangesOf('type=PHYSICAL')).toEqual([]);
    expect(await findings()).toEqual([]);
  });

  it('has cells of some 2,000 prices, which are divided and joined again', async () => {
    const cells = async (): Promise<[lowest: number | null, count: number][]> => {
      await maintain();
      expect(await findings()).toEqual([]);
      const rows = await query<{ lowest: string | null; count: string }>(
        `SELECT lowest, (
           SELECT coalesce(sum(count), 0) FROM (
             SELECT * FROM products_tally_cells_by_price UNION ALL SELECT * FROM products_tally_cells_by_price_deltas
           ) every WHERE word = cell::text AND facet = ''
         ) AS count
         FROM (SELECT lowest, cell FROM products_tally_cells_by_price_bounds UNION ALL SELECT NULL, 0) cells
         ORDER BY lowest NULLS FIRST`,
      );
      return rows.map(({ lowest, count }) => [
        lowest === null ? null : Number(lowest),
        Number(count),
      ]);
    };
    const priced = (from: number, to: number, price: string): string =>
      `INSERT INTO products ("productID", type, "brandID", colours, price, currency)
       SELECT 'p' || i, 'DIGITAL', 'b' || i % 3, ARRAY['red', 'blue'], ${price}, 'EUR'
       FROM generate_series(${from}, ${to}) i`;
    await query(priced(1, 4000, 'i'));
    expect(await cells()).toEqual([[null, 4000]]);
    await query(priced(4001, 9000, 'i'));
    expect(await cells()).toEqual([
      [null, 1000],
      [1001, 2000],
      [3001, 2000],
      [5001, 2000],
      [7001, 2000],
    ]);
    // More than a cell has of one value, which is neither the least nor the greatest.
    await query(priced(9001, 15_000, '6000'));
    const divided = await cells();
    expect(divided).toContainEqual([6000, 6001]);
    expect(await cells()).toEqual(divided);
    await query('DELETE FROM products WHERE price <> 6000 AND price <> 6001 AND price > 100');
    expect(await cells()).toEqual([
      [null, 100],
      [6000, 6001],
      [6001, 1],
    ]);
    await query('DELETE FROM products WHERE price = 6000');
    expect(await cells()).toEqual([[null, 101]]);
    // All of one value, the least that a price may have.
    await query(priced(20_001, 26_000, '0'));
    expect(await cells()).toEqual([
      [null, 0],
      [0, 6000],
      [1, 101],
    ]);
    await query('TRUNCATE products CASCADE');
    expect(await cells()).toEqual([[null, 0]]);
  });

  it('is maintained also where objects are missing that it counts', async () => {
    await query(insertion(1, 6000));
    await query(`UPDATE products SET price = 1, currency = 'EUR'`);
    await query('ALTER TABLE products DISABLE TRIGGER USER');
    await query('DELETE FROM products');
    await query('ALTER TABLE products ENABLE TRIGGER USER');
    expect(await maintain()).toBe(true);
    expect(await findings()).not.toEqual([]);
    await query(INSTALL_PRODUCTS_TALLY);
    expect(await findings()).toEqual([]);
  });

  it('is cut for a value with any characters', async () => {
    const category = 'c=5:a+b';
    await query(`INSERT INTO categories ("categoryID", name) VALUES ($1, 'Any')`, [category]);
    await query(insertion(1, 5000));
    await query(`UPDATE products SET "categoryID" = $1`, [category]);
    await maintain();
    expect((await rangesOf(`categoryID=${category}`)).map(({ count }) => count)).toEqual([
      2000, 2000, 1000,
    ]);
    expect(await findings()).toEqual([]);
    await query('TRUNCATE products CASCADE');
    await query('DELETE FROM categories WHERE "categoryID" = $1', [category]);
  });

  it('is read by index and with a plan made once, also of a large table', async () => {
    for (const from of [1, 10_001]) await query(insertion(from, from + 9999));
    await maintain();
    await query('ANALYZE products');
    for (const facet of FACETS.slice(0, 3).map(facetBy)) {
      const { text, values } = pageOfFacet(
        products,
        facet,
        {
          limit: 50,
          offset: 15_000,
        },
        ['products'],
      );
      await service.dataSource.transaction(async (manager) => {
        await manager.query('SET LOCAL plan_cache_mode = force_generic_plan');
        const [{ types }] = await manager.query<[{ types: string }]>(
          `SELECT string_agg(CASE WHEN i = 1 THEN 'text' WHEN i = 4 THEN 'text' ELSE 'bigint' END, ',') AS types
           FROM generate_series(1, ${values.length}) i`,
        );
        await manager.query(`PREPARE deep (${types}) AS ${text}`);
        const literals = values.map((value) => `'${String(value)}'`).join(', ');
        const lines = await manager.query<{ 'QUERY PLAN': string }[]>(
          `EXPLAIN EXECUTE deep (${literals})`,
        );
        await manager.query('DEALLOCATE deep');
        const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
        expect(plan).not.toMatch(/Seq Scan on products\b/);
        // For a rare value, this plan would scan the whole primary key.
        if (facet.columns.length > 0) expect(plan).not.toMatch(/Scan using "PK_\w+" on products\b/);
        // Without an upper bound, the planner expects a third of the table.
        const expected = [...plan.matchAll(/Scan using .* on products\b.* rows=(\d+)/g)];
        // The place where the page begins, and its objects.
        expect(expected).toHaveLength(2);
        for (const [, rows] of facet.columns.length === 0 ? expected : []) {
          expect(Number(rows)).toBeLessThanOrEqual(200);
        }
      });
    }
  });

  it('is read in the index of the rarest value of a combination, until the page is full', async () => {
    for (const from of [1, 10_001]) await query(insertion(from, from + 9999));
    // So many brands that the planner takes any of them for a rare one.
    await query(
      `INSERT INTO brands ("brandID", name) SELECT 'r' || i, 'R' FROM generate_series(1, 1000) i`,
    );
    await query(
      `UPDATE products SET "brandID" = 'r' || i FROM generate_series(1, 1000) i
       WHERE "productID" = 'p' || lpad((20 * i)::text, 8, '0')`,
    );
    await maintain();
    await query('VACUUM ANALYZE products');
    for (const [category, most] of [
      // A quarter of the category has the brand, and nine tenths of the brand have the other category.
      ['c0', 160],
      ['c1', 20],
    ] as const) {
      const facet = facetBy({ categoryID: category, brandID: 'b1' });
      const { text, values } = pageOfFacet(products, facet, { limit: 50, offset: 0 }, ['products']);
      const plan = await service.dataSource.transaction(async (manager) => {
        await manager.query('SET LOCAL plan_cache_mode = force_generic_plan');
        await manager.query(`PREPARE combined (text, bigint, text, text, text, text) AS ${text}`);
        const literals = values.map((value) => `'${String(value)}'`).join(', ');
        const lines = await manager.query<{ 'QUERY PLAN': string }[]>(
          `EXPLAIN (ANALYZE) EXECUTE combined (${literals})`,
        );
        await manager.query('DEALLOCATE combined');
        return lines.map((line) => line['QUERY PLAN']).join('\n');
      });
      const others = [...plan.matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, rows]) =>
        Number(rows),
      );
      expect(Math.max(0, ...others)).toBeLessThanOrEqual(most);
    }
  });

  it('counts what an upsert, a change of identifier and a rollback leave', async () => {
    await query(insertion(1, 10));
    await query(`INSERT INTO products ("productID", type) VALUES ('p00000001', 'SERVICE'), ('new', 'SERVICE')
                 ON CONFLICT ("productID") DO UPDATE SET type = excluded.type, "brandID" = NULL`);
    await query(`UPDATE products SET "productID" = 'z' WHERE "productID" = 'p00000002'`);
    await query('UPDATE products SET stock = 1');
    await query('DELETE FROM products WHERE false');
    await service.dataSource
      .transaction(async (manager) => {
        await manager.query(insertion(11, 20));
        throw new Error('back');
      })
      .catch(() => undefined);
    expect(await findings()).toEqual([]);
    expect((await service.get('/products?limit=0')).body.response_data.count).toBe('11');
    expect((await service.get('/products?type=SERVICE&limit=0')).body.response_data.count).toBe(
      '5',
    );
  });

  it('counts what an update of very many objects moves, and what it leaves in its place', async () => {
    await query(insertion(1, 3500));
    await query(`UPDATE products SET price = substr("productID", 2)::integer % 97, currency = 'EUR', name = 'N' || price,
      colours = CASE WHEN price < 50 THEN '{red,blue}'::text[] END, stock = 1`);
    await maintain();
    expect(await findings()).toEqual([]);
    // Some move between facets, some between ranges of prices, some exchange identifiers, and most do neither.
    await query(`UPDATE products SET stock = CASE WHEN price < 10 THEN 0 ELSE 2 END,
      price = CASE WHEN "productID" LIKE '%7' THEN 99 - price ELSE price END,
      colours = CASE WHEN "productID" LIKE '%77' THEN '{green}'::text[] ELSE colours END,
      "productID" = CASE WHEN "productID" LIKE '%99' THEN 'q' || "productID" ELSE "productID" END`);
    await query(`WITH swapped AS (SELECT 'p' || lpad(i::text, 8, '0') AS id, 'r' || i AS former FROM generate_series(100, 2000) i)
      UPDATE products SET "productID" = former FROM swapped WHERE id = "productID"`);
    expect(await findings()).toEqual([]);
    expect((await service.get('/products?inStock=false&limit=0')).body.response_data.count).toBe(
      (await query<{ count: string }>('SELECT count(*) FROM products WHERE stock = 0'))[0]?.count,
    );
  });

  it('is kept for any writer, with any rights, search path and replication role', async () => {
    const role = `writer_${process.pid}`;
    const insertion = (id: string) =>
      `INSERT INTO public.categories ("categoryID", name) VALUES ('${id}', 'C')`;
    await query(`CREATE ROLE ${role}`);
    await query(`GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON categories TO ${role}`);
    await service.dataSource.transaction(async (manager) => {
      await manager.query(`CREATE TEMP TABLE categories_tally_deltas (facet text) ON COMMIT DROP`);
      await manager.query(`SET LOCAL ROLE ${role}`);
      await manager.query(`SET LOCAL search_path = pg_catalog`);
      await manager.query(insertion('a'));
    });
    await service.dataSource.transaction(async (manager) => {
      await manager.query('SET LOCAL session_replication_role = replica');
      await manager.query(insertion('b'));
    });
    expect(await miscounts(service.dataSource, metadataOf('categories'))).toEqual([]);
    expect((await service.get('/categories?limit=0')).body.response_data.count).toBe('4');
    await query(`REVOKE ALL ON categories FROM ${role}`);
    await query(`DROP ROLE ${role}`);
  });

  it('refuses a transaction that knows only the ranges before a cut, for it to try again', async () => {
    await query(insertion(1, 9000));
    const late = service.dataSource.createQueryRunner();
    await late.startTransaction('REPEATABLE READ');
    await late.query('SELECT 1 FROM products LIMIT 1');
    await maintain();
    await expect(late.query(insertion(9001, 9001))).rejects.toMatchObject({
      driverError: { code: '40001' },
    });
    await late.rollbackTransaction();
    await late.startTransaction('SERIALIZABLE');
    await late.query(insertion(9001, 9001));
    await late.commitTransaction();
    await late.release();
    expect(await findings()).toEqual([]);
  });

  it('is cut only when no writer is under way, and holds none up for long', async () => {
    await query(insertion(1, 9000));
    const writer = service.dataSource.createQueryRunner();
    await writer.startTransaction();
    await writer.query(insertion(9001, 9001));
    expect(await maintain()).toBe(false);
    const started = performance.now();
    const [, done] = await Promise.all([
      query(insertion(9002, 9002)).then(() => performance.now()),
      maintain(),
    ]);
    expect(done).toBe(false);
    expect(performance.now() - started).toBeLessThan(5000);
    expect(await rangesOf('')).toHaveLength(1);
    await writer.commitTransaction();
    await writer.release();
    expect(await maintain()).toBe(true);
    expect((await rangesOf('')).length).toBeGreaterThan(1);
    expect(await findings()).toEqual([]);
  });

  it('is maintained by one instance at a time', async () => {
    await query(insertion(1, 100));
    const other = service.dataSource.createQueryRunner();
    await other.startTransaction();
    await other.query(`SELECT pg_advisory_xact_lock(hashtext('tally products'))`);
    expect(await maintain()).toBe(false);
    await other.rollbackTransaction();
    await other.release();
    expect(await maintain()).toBe(true);
  });
});

it('The names of columns do not collide with those in the statements of the triggers', async () => {
  const names = [
    ...['step', 'word', 'facet', 'total', 'lowest', 'key', 'count', 'object'],
    // Variables of the triggers.
    ...['new', 'old', 'changed', 'written', 'found', 'came', 'went'],
  ];
  await query(
    `CREATE TABLE odds ("oddID" varchar(100) COLLATE "C" PRIMARY KEY, value integer, words tsvector, item text[],
       ${names.map((name) => `"${name}" text`).join(', ')})`,
  );
  await query(`INSERT INTO odds ("oddID", step) VALUES ('first', 'a')`);
  await query(
    `SELECT install_tally('odds', 'oddID', '{${names.join()},step+word,item}', '{value}', '{words}', '{step+word+value}')`,
  );
  await query(`SELECT install_deletions('odds', 'oddID', '{${names.join()}}')`);
  await query(`INSERT INTO odds_tally_by_words_counted VALUES ('lamp', true)`);
  const insertion = (from: number, count: number): string =>
    `INSERT INTO odds ("oddID", value, words, item, ${names.map((name) => `"${name}"`).join(', ')})
     SELECT 'o' || i, i, 'lamp', '{x,x,y}', ${names.map(() => `'a'`).join(', ')}
     FROM generate_series(${from}, ${from + count - 1}) i`;
  await query(insertion(0, 1500));
  await query(insertion(1500, 1));
  await query(`UPDATE odds SET step = 'b', words = 'torch' WHERE "oddID" = 'o1'`);
  await query(`DELETE FROM odds WHERE "oddID" = 'o2'`);
  // Its triggers are created again, and what they have recorded stays.
  await query(`SELECT install_deletions('odds', 'oddID', '{${names.join()}}')`);
  expect(await query('SELECT "oddID", new FROM odds_deletions ORDER BY 1')).toEqual([
    { oddID: 'o1', new: 'a' },
    { oddID: 'o2', new: 'a' },
  ]);
  await query(`UPDATE odds SET key = 'b' WHERE value > 2`);
  const tallied = (table: string, facet: string) =>
    query(
      `SELECT sum(count)::integer AS count FROM (
         SELECT facet, count FROM ${table} UNION ALL SELECT facet, count FROM ${table}_deltas
       ) every WHERE facet = '${facet}'`,
    );
  expect(await tallied('odds_tally', 'step=a')).toEqual([{ count: 1500 }]);
  expect(await tallied('odds_tally', 'step+word=1:aa')).toEqual([{ count: 1499 }]);
  expect(await tallied('odds_tally', 'key=b')).toEqual([{ count: 1498 }]);
  expect(await tallied('odds_tally_by_value', '')).toEqual([{ count: 1500 }]);
  expect(await tallied('odds_tally_by_words', 'step=a')).toEqual([{ count: 1499 }]);
  expect(await tallied('odds_tally_by_words', '')).toEqual([{ count: 1499 }]);
  expect(await tallied('odds_tally_by_words', 'item=x')).toEqual([{ count: 1499 }]);
  expect(await tallied('odds_tally_cells_by_value', '')).toEqual([{ count: 1500 }]);
  expect(await tallied('odds_tally_cells_by_value', 'item=x')).toEqual([{ count: 1500 }]);
  expect(await tallied('odds_tally_cells_by_value', 'step+word=1:aa')).toEqual([{ count: 1499 }]);
});

it('An object that a statement writes twice, by the actions of two foreign keys, is counted once', async () => {
  await query('CREATE TABLE makers (name text PRIMARY KEY)');
  await query(`CREATE TABLE tools ("toolID" varchar(100) COLLATE "C" PRIMARY KEY,
    maker text REFERENCES makers ON DELETE SET NULL ON UPDATE CASCADE,
    seller text REFERENCES makers ON DELETE SET NULL ON UPDATE CASCADE)`);
  await query(`SELECT install_tally('tools', 'toolID', '{maker}')`);
  await query(`INSERT INTO makers VALUES ('a'), ('b'), ('c')`);
  await query(
    `INSERT INTO tools SELECT i, name, name FROM generate_series(1, 3000) i, chr(97 + i % 3) name`,
  );
  await query(`UPDATE makers SET name = 'd' WHERE name = 'c'`);
  await query(`DELETE FROM makers WHERE name = 'a'`);
  const counts = await query(
    `SELECT facet, sum(count)::integer AS count FROM (
       SELECT facet, count FROM tools_tally UNION ALL SELECT facet, count FROM tools_tally_deltas
     ) every GROUP BY facet HAVING sum(count) <> 0 ORDER BY facet`,
  );
  expect(counts).toEqual([
    { facet: '', count: 3000 },
    { facet: 'maker=b', count: 1000 },
    { facet: 'maker=d', count: 1000 },
  ]);
});

it('Truncation leaves no count behind, in no snapshot, and no reader waits for it in vain', async () => {
  await query(insertion(1, 3000));
  const early = service.dataSource.createQueryRunner();
  await early.startTransaction('REPEATABLE READ');
  await early.query('SELECT 1');
  const truncating = { goesOn: true };
  const answers: number[] = [];
  const read = async () => {
    while (truncating.goesOn) {
      answers.push((await service.get('/products?limit=1&offset=1')).status);
    }
  };
  const truncate = async () => {
    for (let round = 0; round < 40; round += 1) {
      await query('TRUNCATE products CASCADE');
      // What readers meet is the truncation, not the number of rows: few are faster.
      await query(insertion(1, round % 10 === 0 ? 3000 : 100));
    }
    await query('TRUNCATE products CASCADE');
    truncating.goesOn = false;
  };
  await Promise.all([truncate(), read(), read(), read(), read()]);
  expect(new Set(answers)).toEqual(new Set([200]));
  // TRUNCATE is not MVCC-safe: an older snapshot finds the table empty, and the count must agree.
  expect(await page(early.manager, EVERY_OBJECT, 0)).toEqual({ count: '0', first: undefined });
  expect(await plainPage(early.manager, EVERY_OBJECT, 0)).toEqual({
    count: '0',
    first: undefined,
  });
  await early.rollbackTransaction();
  await early.release();
  expect(await findings()).toEqual([]);
});

describe('Verify finds in a tally', () => {
  it.each([
    [
      'a count that is not that of the table',
      `UPDATE products_tally SET count = count + 1 WHERE facet = 'type=DIGITAL'`,
      'the tally of products has 5 for type=DIGITAL from the first, where there are 4',
    ],
    [
      'a position that is off although the count is right',
      `INSERT INTO products_tally VALUES ('', 'p00000005', 0)`,
      'the tally of products has 0 for all from p00000005, where there are 6',
    ],
    [
      'a count in the order of a sorted column that is off',
      `UPDATE "products_tally_by_createdAt" SET count = count + 1 WHERE facet = 'type=DIGITAL'`,
      'the tally by createdAt of products has 5 for type=DIGITAL from the first, where there are 4',
    ],
    [
      'a range of a combination that is off',
      `INSERT INTO products_tally VALUES ('brandID+type=2:b1DIGITAL', 'p00000001', 0)`,
      'the tally of products has 0 for brandID+type=2:b1DIGITAL from p00000001, where there are 1',
    ],
    [
      'a count of a cell that is off',
      `UPDATE products_tally_cells_by_price SET count = count + 1 WHERE facet = 'type=DIGITAL'`,
      'the tally of cells by price of products has 5 for 0 type=DIGITAL, where there are 4',
    ],
    [
      'a cell with another lowest value',
      'INSERT INTO products_tally_cells_by_price_bounds (lowest) VALUES (1)',
      'the tally of cells by price of products has 4 for 0 type=DIGITAL, where there are 0',
    ],
  ])('%s', async (_, damage, finding) => {
    await query(insertion(1, 10));
    await query(`UPDATE products SET price = 1, currency = 'EUR'`);
    await maintain();
    await query(damage);
    expect(await findings()).toContain(finding);
    await query(INSTALL_PRODUCTS_TALLY);
    expect(await findings()).toEqual([]);
  });
});

it('A single column that intervals name, as those of a former release do, is counted once', async () => {
  await query(
    'CREATE TABLE lots ("lotID" varchar(100) COLLATE "C" PRIMARY KEY, price integer, maker text)',
  );
  await query(`INSERT INTO lots VALUES ('a', 1, 'x'), ('b', 2, 'x')`);
  await query(`SELECT install_tally('lots', 'lotID', '{maker}', '{price}', '{}', '{maker+price}')`);
  const cells = await query('SELECT facet, count FROM lots_tally_cells_by_price ORDER BY facet');
  expect(cells).toEqual([
    { facet: '', count: '2' },
    { facet: 'maker=x', count: '2' },
  ]);
});
