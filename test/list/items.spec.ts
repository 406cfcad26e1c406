import { beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import { migrate } from '#server/schema/migrate.js';
import { resourcesOf } from '#server/resource/resource.js';
import { TallyMaintenance } from '#server/tally/maintain.js';
import { miscounts } from '#server/verify/object-checks.js';
import {
  compares,
  compareFacets,
  comparePage,
  containsAll,
  equals,
  hasItems,
  listed,
  type PlainFilter,
  type PlainRequest,
  type PlainResource,
} from '#server/testing/oracle.js';
import { MIGRATIONS } from '../project.js';
import { sharedService } from '../service.js';

const service = sharedService({ PAGE_CACHE_MB: '0' });
let products: EntityMetadata;

const query = <Row>(text: string, values?: unknown[]): Promise<Row[]> =>
  service.dataSource.query<Row[]>(text, values);

/** Every way in which an array has no item, or hardly one. */
const ARRAYS = [
  'NULL',
  `'{}'`,
  `'{NULL}'`,
  `'{""}'`,
  `'{red}'`,
  `'{red,red}'`,
  `'{blue,red,NULL}'`,
];
const numbered = (number: string): string =>
  `(ARRAY[${ARRAYS.map((each) => `${each}::text`).join()}])[1 + ${number} % ${ARRAYS.length}]::text[]`;

const lists = (keeps: (items: string) => string): PlainFilter => ({
  columns: ['colours'],
  sample: () => '',
  keeps: (value) => keeps(`ARRAY[${listed(value)}]`),
});

/** The products as plain SQL reads them. */
const PLAIN: PlainResource = {
  path: '/products',
  table: 'products',
  identifier: 'productID',
  sorts: ['productID', 'price'],
  filters: {
    type: equals('type', []),
    brandID: equals('brandID', []),
    priceMin: compares('price', '>=', () => ''),
    q: { columns: ['words'], sample: () => '', keeps: (words) => containsAll('name', words) },
    colours: lists((items) => `colours && ${items}`),
    coloursNot: lists((items) => `(colours && ${items}) IS NOT TRUE`),
    coloursExists: hasItems('colours'),
  },
  facets: {
    labels: { brandID: () => `(SELECT name FROM brands WHERE "brandID" = value)` },
    tree: { column: '', nodes: () => '' },
    items: ['colours'],
    presence: {
      brandIDExists: ['brandID', '"brandID" IS NOT NULL'],
      coloursExists: ['colours', 'coalesce(cardinality(colours), 0) > 0'],
    },
    ranges: {},
  },
};
const FACETS = ['type', 'brandID', 'brandIDExists', 'colours', 'coloursExists'];

const OTHERS: readonly PlainRequest[] = [
  {},
  { type: 'DIGITAL' },
  { brandID: 'b1' },
  { brandID: 'b1,b2', type: 'DIGITAL' },
  { priceMin: '20' },
  { q: 'lamp' },
];
const ABOUT_COLOURS: readonly PlainRequest[] = [
  { coloursNot: 'red' },
  { coloursNot: 'red,blue' },
  { coloursExists: 'true' },
  { coloursExists: 'false' },
  { coloursExists: 'true', coloursNot: 'red' },
  { coloursExists: 'false', coloursNot: 'red' },
  { coloursExists: 'false', colours: 'red' },
  { coloursNot: 'blue', colours: 'red' },
];

/** Compares the tally with the table. */
async function compareCounts(): Promise<void> {
  expect(await miscounts(service.dataSource, products)).toEqual([]);
}

/** Compares lists and facet counts with plain SQL as well. */
async function compare(): Promise<void> {
  await compareCounts();
  for (const others of OTHERS) {
    for (const about of ABOUT_COLOURS) {
      const request = { ...others, ...about, limit: '3' };
      const { count } = await comparePage(service, PLAIN, request);
      const offset = String(Math.floor(Number(count) / 2));
      const sort: PlainRequest = Number(count) % 2 === 0 ? {} : { sort: '-price' };
      await comparePage(service, PLAIN, { ...request, ...sort, offset });
      const counted = { ...others, ...about, facets: FACETS.join(), limit: '50' };
      await compareFacets(service, PLAIN, FACETS, counted);
    }
  }
}

beforeAll(async () => {
  const found = resourcesOf(service.dataSource).get('products');
  if (!found) throw new Error('There are no products');
  products = found;
  await query(`INSERT INTO brands ("brandID", name) VALUES ('b1', 'B'), ('b2', 'C')`);
  // In one statement of many rows, and in one of few.
  for (const [from, to] of [
    [1, 1600],
    [1601, 1630],
  ]) {
    await query(
      `INSERT INTO products ("productID", type, "brandID", name, price, currency, colours)
       SELECT 'p' || i, (ARRAY['PHYSICAL', 'DIGITAL'])[1 + i % 2]::product_type, (ARRAY['b1', 'b2', NULL])[1 + i % 3],
         (ARRAY['Lamp', 'Chair'])[1 + i % 5 / 4], i % 40, 'EUR', ${numbered('i')}
       FROM generate_series(${from}, ${to}) i`,
    );
  }
});

it('Lists by items and their absence are as plain SQL has them, whatever the arrays become', async () => {
  await compare();
  expect(await new TallyMaintenance(service.dataSource, products).run()).toBe(true);
  await compare();
  // One row at a time, from each to each.
  for (const from of ARRAYS) {
    for (const to of ARRAYS) {
      await query(`UPDATE products SET colours = ${from} WHERE "productID" = 'p7'`);
      await query(`UPDATE products SET colours = ${to} WHERE "productID" = 'p7'`);
    }
  }
  await compareCounts();
  // All of them, so that most change in one statement; then those without an item.
  await query(
    `UPDATE products SET colours = ${numbered('n')} FROM (
       SELECT "productID" AS id, 3 + row_number() OVER () AS n FROM products
     ) numbered WHERE id = "productID"`,
  );
  await compare();
  await query(`UPDATE products SET colours = '{}' WHERE colours IS NULL`);
  await compareCounts();
  await query(
    `DELETE FROM products WHERE coalesce(cardinality(colours), 0) = 0 AND "productID" LIKE '%1'`,
  );
  await compareCounts();
  expect(await new TallyMaintenance(service.dataSource, products).run()).toBe(true);
  await compare();
});

it('Null and an empty array stay apart in answers, and are both without a colour', async () => {
  await query(
    `INSERT INTO products ("productID", type, colours)
     VALUES ('z1', 'SERVICE', NULL), ('z2', 'SERVICE', '{}'), ('z3', 'SERVICE', '{NULL}'), ('z4', 'SERVICE', '{""}')`,
  );
  const path = '/products?type=SERVICE&fields=productID,colours';
  const { body } = await service.get(path).expect(200);
  expect(body.response_data.objects).toEqual([
    { productID: 'z1', colours: null },
    { productID: 'z2', colours: [] },
    { productID: 'z3', colours: [null] },
    { productID: 'z4', colours: [''] },
  ]);
  const whole = await service.get(`${path}&coloursExists=false`).set('Accept', 'text/csv');
  expect(whole.text).toBe('productID,colours\r\nz1,\r\nz2,[]\r\n');
  const lines = await service
    .get(`${path}&coloursExists=true`)
    .set('Accept', 'application/x-ndjson');
  expect(lines.text).toBe(
    '{"productID":"z3","colours":[null]}\n{"productID":"z4","colours":[""]}\n',
  );
});

it('A tally of a former version, without those without an item, is kept until migrate counts it again', async () => {
  await query(
    `UPDATE tallies SET orders = (SELECT jsonb_agg(ordered - 'empty') FROM jsonb_array_elements(orders) ordered);
     DELETE FROM products_tally_by_colours WHERE word IS NULL;
     DELETE FROM products_tally_by_colours_deltas WHERE word IS NULL;
     ALTER TABLE products_tally_by_colours ALTER word SET NOT NULL;
     ALTER TABLE products_tally_by_colours_deltas ALTER word SET NOT NULL;
     SELECT refresh_tally('products')`,
  );
  await query(`INSERT INTO products ("productID", type) VALUES ('former', 'SERVICE')`);
  await query(`UPDATE products SET colours = '{red}' WHERE "productID" = 'z2'`);
  const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  await service.get('/products?coloursExists=false').expect(500);
  logged.mockRestore();
  const declared = () => Promise.resolve(service.dataSource);
  const onWaiting = () => undefined;
  await migrate(service.database.url, { migrations: MIGRATIONS, declared, onWaiting });
  await compare();
});
