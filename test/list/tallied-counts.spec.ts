import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Service, startService } from '../service.js';
import {
  compares,
  differs,
  equals,
  exists,
  hasItems,
  listed,
  type PlainResource,
  plainWhere,
} from '#server/testing/oracle.js';

let service: Service;

beforeAll(async () => {
  service = await startService({ PAGE_CACHE_MB: '0' });
  const query = (text: string, values?: unknown[]) => service.dataSource.query(text, values);
  await query(`INSERT INTO brands ("brandID", name) VALUES ('b1', 'B'), ('b2', 'C')`);
  await query(`INSERT INTO categories ("categoryID", name) VALUES ('c1', 'D')`);
  await query(`INSERT INTO products_tally_cells_by_price_bounds (lowest) VALUES (20), (50), (80)`);
  await query(
    `INSERT INTO products ("productID", type, "brandID", price, currency, stock, "categoryID")
     SELECT 'p' || i, (ARRAY['PHYSICAL', 'DIGITAL', 'SERVICE'])[1 + i % 3]::product_type,
       (ARRAY['b1', 'b2', NULL])[1 + i % 3 + i % 2], CASE WHEN i % 4 > 0 THEN i END, 'EUR', i % 5, 'c1'
     FROM generate_series(0, 99) i`,
  );
  // Objects that are not there, so that a count shows where it comes from.
  const facets = Object.entries({
    '': 1000,
    'type=PHYSICAL': 200,
    'type=DIGITAL': 30,
    'brandID=b1': 400,
    'brandID=b2': 5,
    'brandID+type=2:b1PHYSICAL': 60,
    // Of a column whose name begins like that of another one.
    'brandIDs=b1': 3000,
    'currency=EUR': 700,
    'currency+type=3:EURDIGITAL': 8,
    'type+inStock=7:DIGITALtrue': 5000,
    'brandID+type+inStock=2:b27:DIGITALtrue': 60,
    'categoryID+type+inStock=2:c17:DIGITALtrue': 70,
    'currency+type+inStock=3:EUR7:DIGITALtrue': 80,
  });
  for (const facet of facets) {
    await query(`INSERT INTO products_tally_deltas VALUES ($1, '', $2)`, facet);
  }
  await query(
    `INSERT INTO products_tally_by_price_deltas VALUES ('', NULL, '', 90), ('type=PHYSICAL', NULL, '', 2)`,
  );
  // Of the prices below 20, from 20 to 50, from 50 to 80, and above.
  await query(
    `INSERT INTO products_tally_cells_by_price_deltas (word, facet, count)
     VALUES ('0', 'categoryID=c1', 1000), ('1', 'categoryID=c1', 2000), ('2', 'categoryID=c1', 4000), ('3', 'categoryID=c1', 8000),
       ('2', 'categoryID+type=2:c1DIGITAL', 3000), ('1', 'brandID=b2', 3), ('2', 'colours=red', 9), ('2', 'colours=blue', 10)`,
  );
  await query(
    `INSERT INTO products_tally_by_colours_deltas (word, facet, count)
     VALUES ('red', '', 50), ('red', 'brandID=b1', 6), ('red', 'brandID+type=2:b1PHYSICAL', 7),
       (NULL, '', 11), (NULL, 'brandID=b1', 12), (NULL, 'type=DIGITAL', 13)`,
  );
});
afterAll(() => service.stop());

const PRODUCTS: PlainResource = {
  path: '/products',
  table: 'products',
  identifier: 'productID',
  sorts: [],
  filters: {
    type: equals('type', []),
    typeNot: differs('type', []),
    brandID: equals('brandID', []),
    brandIDNot: differs('brandID', []),
    brandIDExists: exists('brandID'),
    categoryID: equals('categoryID', []),
    categoryIDExists: exists('categoryID'),
    priceMin: compares('price', '>=', () => ''),
    priceMax: compares('price', '<=', () => ''),
    priceExists: exists('price'),
    currency: equals('currency', []),
    inStock: equals('inStock', []),
    stockMin: compares('stock', '>=', () => ''),
    colours: {
      columns: ['colours'],
      sample: () => '',
      keeps: (value) => `colours && ARRAY[${listed(value)}]`,
    },
    coloursAll: {
      columns: ['colours'],
      sample: () => '',
      keeps: (value) => `colours @> ARRAY[${listed(value)}]`,
    },
    coloursNot: {
      columns: ['colours'],
      sample: () => '',
      keeps: (value) => `(colours && ARRAY[${listed(value)}]) IS NOT TRUE`,
    },
    coloursExists: hasItems('colours'),
  },
};

/** Lists with the number of their objects that are not there. */
it.each([
  ['typeNot=PHYSICAL', 30],
  ['typeNot=PHYSICAL,SERVICE', 30],
  ['typeNot=SERVICE&brandID=b1', 60],
  ['brandIDNot=b1', 600],
  ['brandIDNot=b1,b2,b1,nowhere', 595],
  ['brandIDNot=b1&type=PHYSICAL', 140],
  ['brandIDNot=b1&typeNot=DIGITAL,SERVICE', 140],
  ['brandIDExists=true', 405],
  ['brandIDExists=false', 595],
  ['categoryIDExists=false', 1000],
  ['priceExists=true', 90],
  ['priceExists=true&sort=-price&offset=3', 90],
  ['priceExists=false', 910],
  ['priceExists=true&type=PHYSICAL', 2],
  ['priceExists=true&type=PHYSICAL&sort=-price&offset=1', 2],
  ['priceExists=false&type=PHYSICAL', 198],
  ['currency=EUR', 700],
  ['currency=EUR,USD&typeNot=PHYSICAL', 8],
  ['type=DIGITAL&inStock=true', 5000],
  ['brandID=b2&type=DIGITAL&inStock=true', 60],
  ['currency=EUR&type=DIGITAL,SERVICE&inStock=true', 80],
  ['currency=EUR&type=DIGITAL,SERVICE&inStock=true&sort=-price', 80],
  ['categoryID=c1&priceMin=10', 14000],
  ['categoryID=c1&priceMin=20', 14000],
  ['categoryID=c1&priceMin=20.5', 12000],
  ['categoryID=c1&priceMin=80.5', 0],
  ['categoryID=c1&priceMax=19', 0],
  ['categoryID=c1&priceMax=20', 1000],
  ['categoryID=c1&priceMax=49', 1000],
  ['categoryID=c1&priceMax=90', 7000],
  ['categoryID=c1&priceMin=15&priceMax=85', 6000],
  ['categoryID=c1&priceMin=21&priceMax=49', 0],
  ['categoryID=c1&priceMin=21&priceMax=79', 0],
  ['categoryID=c1&priceMin=60&priceMax=10', 0],
  ['brandID=b2&priceMin=5', 3],
  ['categoryID=c1&type=DIGITAL&priceMin=50&sort=name', 3000],
  ['categoryID=c1&type=DIGITAL&priceMin=50&sort=-price', 3000],
  ['categoryID=c1&priceExists=true', 15000],
  ['colours=red', 50],
  ['colours=red&brandID=b1', 6],
  ['coloursAll=red&brandID=b1&type=PHYSICAL', 7],
  ['coloursNot=red', 950],
  ['coloursNot=red,red&brandID=b1', 394],
  ['coloursNot=red&brandID=b1&type=PHYSICAL', 53],
  ['coloursExists=false', 11],
  ['coloursExists=false&brandID=b1', 12],
  ['coloursExists=true', 989],
  ['coloursExists=true&brandID=b1', 388],
  // These are counted by an index.
  ['coloursNot=red,blue', 0],
  ['coloursNot=red&coloursExists=true', 0],
  ['coloursNot=red&colours=blue', 0],
  ['coloursNot=red&brandIDNot=b1', 0],
  ['coloursNot=red&priceMin=0', 0],
  ['coloursExists=false&priceMin=0', 0],
  ['coloursExists=true&categoryID=c1&brandID=b1', 0],
  ['colours=red,blue', 0],
  ['coloursAll=red,blue', 0],
  ['colours=red&categoryID=c1&brandID=b1', 0],
  ['brandIDNot=b1&categoryIDExists=false', 0],
  ['brandID=b2&type=DIGITAL&priceMin=5', 0],
  ['priceExists=true&brandIDNot=b1', 0],
  ['brandIDExists=false&typeNot=SERVICE', 0],
  ['brandIDNot=b1&brandIDExists=true', 0],
  ['brandIDNot=b1&brandID=b1,b2', 0],
  ['brandIDNot=b1&stockMin=0', 0],
])('The tally has the count of %s', async (list, extra) => {
  const { body } = await service.get(`/products?${list}&limit=1`).expect(200);
  const where = plainWhere(PRODUCTS, Object.fromEntries(new URLSearchParams(list)));
  const [{ count }] = await service.dataSource.query<[{ count: number }]>(
    `SELECT count(*)::integer AS count FROM products WHERE ${where}`,
  );
  expect(body.response_data.count).toBe(String(count + extra));
});

it('The tally has the counts of every value among the products in stock and of a type', async () => {
  const { body } = await service
    .get('/facets/products?type=DIGITAL&inStock=true&facets=brandID,categoryID,currency')
    .expect(200);
  const extra: Record<string, number> = { b2: 60, c1: 70, EUR: 80 };
  const labels: Record<string, string> = { b2: 'C', c1: 'D' };
  const plain = await service.dataSource.query<{ field: string; value: string; count: number }[]>(
    `SELECT field, value, count(*)::integer AS count
     FROM products CROSS JOIN LATERAL (
       VALUES (1, 'brandID', "brandID"), (2, 'categoryID', "categoryID"), (3, 'currency', currency)
     ) fields(at, field, value)
     WHERE type = 'DIGITAL' AND "inStock" AND value IS NOT NULL
     GROUP BY at, field, value ORDER BY at`,
  );
  expect(plain.map(({ value }) => value)).toEqual(['b2', 'c1', 'EUR']);
  expect((body as { response_data: { objects: unknown } }).response_data.objects).toEqual(
    plain.map(({ field, value, count }) => ({
      field,
      value,
      label: labels[value] ?? null,
      count: String(count + (extra[value] ?? 0)),
    })),
  );
});

it('The tally has the counts of values and items in whole cells of an interval', async () => {
  const { body } = await service
    .get('/facets/products?priceMin=30&priceMax=85&facets=brandID,colours,type,within')
    .expect(200);
  const plain = await service.dataSource.query<{ field: string; value: string; count: number }[]>(
    `SELECT field, value, count(*)::integer AS count
     FROM products CROSS JOIN LATERAL (VALUES ('brandID', "brandID"), ('type', type::text), ('within', "categoryID")) fields(field, value)
     WHERE price BETWEEN 30 AND 85 AND value IS NOT NULL GROUP BY field, value`,
  );
  const wanted = new Map(plain.map(({ field, value, count }) => [`${field} ${value}`, count]));
  wanted.set('within c1', 4000 + (wanted.get('within c1') ?? 0));
  wanted.set('colours red', 9).set('colours blue', 10);
  const { objects } = body.response_data as { objects: Record<string, string>[] };
  const counts = objects.map(({ field, value, count }) => [`${field} ${value}`, Number(count)]);
  expect(new Map(counts as [string, number][])).toEqual(wanted);
});

it('Values that no cell counts are those of all objects, beside others that cells count', async () => {
  const { body } = await service
    .get('/facets/products?categoryID=c1&priceMin=30&priceMax=85&facets=type,currency')
    .expect(200);
  const [{ total, digital }] = await service.dataSource.query<[Record<string, number>]>(
    `SELECT count(*)::integer AS total, count(*) FILTER (WHERE type = 'DIGITAL')::integer AS digital
     FROM products WHERE price BETWEEN 30 AND 85`,
  );
  const { objects } = body.response_data as { objects: Record<string, string>[] };
  const counts = objects.map(({ field, value, count }) => [`${field} ${value}`, Number(count)]);
  expect(Object.fromEntries(counts)).toMatchObject({
    'type DIGITAL': 3000 + (digital ?? 0),
    'currency EUR': total,
  });
});

it('The tally has the counts of presence, and those of values among the products without an item', async () => {
  const counted = async (query: string): Promise<Record<string, number>> => {
    const { body } = await service.get(`/facets/products?${query}`).expect(200);
    const { objects } = body.response_data as { objects: Record<string, string>[] };
    return Object.fromEntries(
      objects.map(({ field, value, count }) => [`${field} ${value}`, Number(count)]),
    );
  };
  const [plain] = await service.dataSource.query<[Record<string, number>]>(
    `SELECT count("brandID")::integer AS branded, count(*) FILTER (WHERE "brandID" = 'b1')::integer AS b1,
       count(*) FILTER (WHERE type = 'DIGITAL')::integer AS digital, count(*) FILTER (WHERE type = 'PHYSICAL')::integer AS physical
     FROM products`,
  );
  const { branded = 0, b1 = 0, digital = 0, physical = 0 } = plain;
  expect(await counted('facets=brandIDExists,coloursExists')).toEqual({
    'brandIDExists true': branded + 405,
    'brandIDExists false': 100 - branded + 595,
    'coloursExists true': 989,
    'coloursExists false': 111,
  });
  // The filter on the field is ignored.
  expect(await counted('facets=coloursExists&brandID=b1&coloursExists=true')).toEqual({
    'coloursExists true': 388,
    'coloursExists false': b1 + 12,
  });
  expect(await counted('facets=type,coloursExists&coloursExists=false')).toEqual({
    'type DIGITAL': digital + 13,
    'type PHYSICAL': physical,
    'type SERVICE': 100 - digital - physical,
    'coloursExists true': 989,
    'coloursExists false': 111,
  });
});
