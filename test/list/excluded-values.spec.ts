import { beforeAll, expect, it, jest } from '@jest/globals';
import { primaryPool } from '#server/private-api/database.js';
import { SORTING_COST } from '#server/database/planner.js';
import { ParameterValues } from '#server/database/statement.js';
import { Listing } from '#server/list/listing/listing.js';
import { totalOrder } from '#server/list/listing/order.js';
import { matchingObjects } from '#server/list/statement/page-statement.js';
import { placeAmongAll } from '#server/list/statement/tallied-place.js';
import { VisibleListing } from '#server/list/visibility/visible-listing.js';
import { TallyMaintenance } from '#server/tally/maintain.js';
import {
  comparePage,
  differs,
  equals,
  type PlainRequest,
  type PlainResource,
} from '#server/testing/oracle.js';
import { Random } from '#server/testing/random.js';
import { ListProductsDto } from '../../src/products/list-products.dto.js';
import { Product } from '../../src/products/product.entity.js';
import { sentStatements } from '../sent-statements.js';
import { sharedService } from '../service.js';
import { until } from '../until.js';

const service = sharedService({ PAGE_CACHE_MB: '0', QUERY_TIMEOUT_MS: '60000' });

const PRODUCTS = 20_000;

beforeAll(async () => {
  const { dataSource } = service;
  await dataSource.query(
    `INSERT INTO brands ("brandID", name) SELECT id, id FROM unnest('{many,few,dear,rare}'::text[]) id`,
  );
  // Each price is that of fifty products, and each ninth product has none.
  await dataSource.query(
    `INSERT INTO products ("productID", type, name, "brandID", price, currency, "createdAt")
     SELECT 'p' || lpad(i::text, 5, '0'), (ARRAY['PHYSICAL', 'PHYSICAL', 'DIGITAL'])[1 + i % 3]::product_type, 'name ' || i % 70,
       CASE WHEN i % 7 < 2 THEN 'many' WHEN i % 25 = 3 THEN 'few' WHEN i % 2000 = 5 THEN 'rare'
         WHEN i * 7919 % 400 > 370 THEN 'dear' END,
       CASE WHEN i % 9 > 0 THEN i * 7919 % 400 END, 'EUR', timestamp '2026-01-01' + i * 7907 % 20011 * interval '1 s'
     FROM generate_series(1, ${PRODUCTS}) i`,
  );
  await dataSource.query('VACUUM ANALYZE products');
  const maintenance = new TallyMaintenance(dataSource, dataSource.getMetadata(Product));
  await until(() => maintenance.run());
});

const PLAIN: PlainResource = {
  path: '/products',
  table: 'products',
  identifier: 'productID',
  sorts: [],
  natural: { name: Array.from({ length: 70 }, (_, at) => `name ${at}`) },
  filters: {
    brandIDNot: differs('brandID', []),
    typeNot: differs('type', []),
    type: equals('type', []),
  },
};

it.each<PlainRequest>([
  { brandIDNot: 'few' },
  { brandIDNot: 'few,rare,nowhere' },
  { brandIDNot: 'many' },
  { brandIDNot: 'dear', type: 'PHYSICAL' },
  { brandIDNot: 'few', typeNot: 'SERVICE' },
])('All but %j are as plain SQL has them in any order, at any offset', async (list) => {
  const random = new Random(JSON.stringify(list));
  for (const sort of [
    'productID',
    '-productID',
    'price',
    '-price',
    '-createdAt',
    'name',
    'price,name',
  ]) {
    const compare = (offset: number) =>
      comparePage(service, PLAIN, { ...list, sort, limit: '30', offset: String(offset) });
    const count = Number((await compare(random.below(60))).count);
    // In the middle, around where the price ends, and at the end.
    for (const part of [0.3, 0.5, 0.7, 8 / 9, 1]) {
      await compare(Math.max(0, Math.floor(part * count) - random.below(90)));
    }
  }
});

it.each(['price', '-price'])(
  'A place in a cell among products of its lowest price is right in the order %s',
  async (sort) => {
    const bounds = await service.dataSource.query<{ before: number; upto: number }[]>(
      `SELECT count(*) FILTER (WHERE price ${sort === 'price' ? '<' : '>'} lowest)::integer AS before,
       count(*) FILTER (WHERE price ${sort === 'price' ? '<=' : '>='} lowest)::integer AS upto
     FROM products_tally_cells_by_price_bounds CROSS JOIN products GROUP BY lowest ORDER BY lowest`,
    );
    expect(bounds.length).toBeGreaterThan(3);
    for (const { before, upto } of bounds) {
      for (const offset of [before - 1, before, before + 10, before + 30, upto - 1, upto]) {
        const request = {
          brandIDNot: 'few',
          sort,
          limit: '30',
          offset: String(Math.max(0, offset)),
        };
        await comparePage(service, PLAIN, request);
      }
    }
  },
);

it('To count an excluded product costs more where it alone has to be visited', () => {
  const products = service.dataSource.getRepository(Product);
  const costBy = (field: string): string | undefined => {
    const order = totalOrder(products.metadata, [{ field, direction: 'ASC' }]);
    const listing = new Listing(products, new ListProductsDto(), [
      { kind: 'not', column: 'brandID', values: ['few'] },
    ]);
    const matching = matchingObjects(VisibleListing.of(listing, undefined), order);
    const values = new ParameterValues(matching.values);
    const picking = { ...matching, values, visible: [], order, limit: '20' };
    return placeAmongAll(picking, '500')?.isBetter.split(' ')[0];
  };
  // The index of brands has the price, and not the time. That of names has no brands: what is skipped is visited, too.
  const visited = String(SORTING_COST.lookedUp);
  expect(['price', 'createdAt', 'name'].map(costBy)).toEqual(['1', visited, '1']);
});

it.each([
  // To the place in a range, and then as many as are excluded.
  ['brandIDNot=few&sort=price', 4000],
  ['brandIDNot=few&sort=-price', 4000],
  ['brandIDNot=few', 4000],
  ['brandIDNot=few&type=PHYSICAL&sort=price', 4000],
  // Each excluded product is visited for its name.
  ['brandIDNot=rare&sort=name', 4000],
])('A page in the middle of %s reads few objects', async (list, most) => {
  interface Node {
    readonly 'Index Name'?: string;
    readonly 'Actual Loops': number;
    readonly 'Actual Rows': number;
    readonly 'Rows Removed by Filter'?: number;
    readonly Plans?: readonly Node[];
  }
  const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
  const pool = primaryPool(service.dataSource);
  const asked = jest.spyOn(pool, 'query');
  const { body } = await service.get(`/products?${list}&limit=0`).expect(200);
  const offset = Math.floor(
    Number(body.response_data.count) * (list.includes('price') ? 0.45 : 0.5),
  );
  asked.mockClear();
  await service.get(`/products?${list}&limit=20&offset=${offset}`).expect(200);
  const page = sentStatements(asked).find(({ text }) => text.includes('picked AS'));
  asked.mockRestore();
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${page?.text}`,
    page?.values,
  );
  const read = rows
    .flatMap(({ 'QUERY PLAN': [{ Plan }] }) => nodesOf(Plan))
    .filter(
      (node) =>
        node['Index Name']?.startsWith('products_by') ?? node['Index Name']?.startsWith('PK'),
    )
    .map(
      (node) =>
        node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)),
    );
  const total = read.reduce((sum, each) => sum + each, 0);
  expect({ list, isFew: total < most && total > 20, total }).toEqual({ list, isFew: true, total });
});
