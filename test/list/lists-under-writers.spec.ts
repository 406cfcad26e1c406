import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type QueryRunner } from 'typeorm';
import { driverErrorOf } from '../../src/database/database-failure.js';
import { databaseOptions } from '../../src/database/options.js';
import { ReadPool } from '../../src/database/read-pool.js';
import { Dependencies } from '../../src/list/reading/dependencies.js';
import { FacetCounts } from '../../src/list/facets/facet-counts.js';
import { FacetReader } from '../../src/list/facets/facet-reader.js';
import { KnownLists } from '../../src/list/statement/known-lists.js';
import { ListReader } from '../../src/list/reading/list-reader.js';
import { RELEVANCE, type SortKey } from '../../src/list/query/list-query.dto.js';
import { PageReader } from '../../src/list/reading/page-reader.js';
import { StatementCache } from '../../src/list/statement/statement-cache.js';
import { TallyMaintenance } from '../../src/list/tally/maintain.js';
import { Versions } from '../../src/list/reading/versions.js';
import { UnscopedReads } from '../../src/list/reading/unscoped-reads.js';
import { LoadingResources } from '../../src/list/reading/loading-resources.js';
import { WithheldLists } from '../../src/list/reading/withheld-lists.js';
import { ListProductsDto } from '../../src/products/list-products.dto.js';
import { ProductsService } from '../../src/products/products.service.js';
import { ProductType } from '../../src/products/product.entity.js';
import { resourcesOf } from '../../src/resource/resource.js';
import { Settings } from '../../src/settings/settings.js';
import { miscounts } from '../../src/verify/miscounts.js';
import { Random } from '../random.js';
import { type Service, startService } from '../service.js';
import { productWords } from './product-words.js';

/** Seconds of the run. */
const DURATION = Number(process.env.LISTS_TEST_SECONDS ?? 6);
/** Identifiers that may exist. */
const NUMBERS = 30_000;
const WRITERS = 8;
const TYPES = Object.values(ProductType);

let service: Service;

beforeAll(async () => {
  service = await startService({ QUERY_TIMEOUT_MS: '60000' });
  const { dataSource } = service;
  await dataSource.query(
    `INSERT INTO brands ("brandID", name) SELECT 'b' || i, 'B' FROM generate_series(0, 9) i`,
  );
  await dataSource.query(
    `INSERT INTO categories ("categoryID", name) SELECT 'c' || i, 'C' FROM generate_series(0, 4) i`,
  );
  await dataSource.query(insertion(0, 20_000));
  // For the choice of the counted words.
  await dataSource.query('ANALYZE products');
});
afterAll(() => service.stop());

/** A statement that inserts or replaces the products with numbers from `from`, with random values. */
function insertion(from: number, count: number): string {
  return `INSERT INTO products ("productID", type, name, description, "brandID", "categoryID", price, currency, stock, "createdAt")
    SELECT 'p' || lpad(i::text, 6, '0'),
      (ARRAY['PHYSICAL', 'PHYSICAL', 'DIGITAL', 'SERVICE'])[1 + floor(random() * 4)::integer]::product_type,
      CASE WHEN random() < 0.9 THEN 'name ' || floor(random() * 500) || ' lamp' END,
      CASE WHEN random() < 0.4 THEN 'robust' END,
      CASE WHEN random() < 0.9 THEN 'b' || floor(10 * random() * random()) END,
      CASE WHEN random() < 0.9 THEN 'c' || floor(5 * random() * random()) END,
      CASE WHEN random() < 0.8 THEN floor(random() * 300) END,
      (ARRAY['EUR', 'EUR', 'USD', 'JPY'])[1 + floor(random() * 4)::integer],
      CASE WHEN random() < 0.8 THEN floor(random() * 4)::integer END,
      timestamptz '2026-01-01Z' + floor(random() * 300) * interval '1 day'
    FROM generate_series(${from}, ${from + count - 1}) i
    ON CONFLICT ("productID") DO UPDATE SET price = excluded.price, type = excluded.type, name = excluded.name,
      description = excluded.description, currency = excluded.currency`;
}

/** Which of the related objects are included. */
const INCLUDED = [
  [0, 1],
  [1, 2],
  [0, 2],
] as const;

/** The fields of facet counts, in order. */
const FACETS = ['type', 'brandID', 'categoryID', 'currency', 'inStock'];

/** A list with the same conditions and order in SQL. */
interface RandomList {
  readonly query: ListProductsDto;
  /** Each with the column that it compares. */
  readonly conditions: readonly (readonly [column: string, sql: string])[];
  readonly where: string;
  readonly orderBy: string;
}

function randomList(random: Random): RandomList {
  const query = new ListProductsDto();
  const conditions: [string, string][] = [];
  let titled: string | undefined;
  // An interval in the order of the identifier: the tally knows its count, and no place in it.
  const isInterval = random.chance(0.15);
  // Half of the other lists have few filters: the tally knows those.
  const density = isInterval ? 0 : random.pick([0.2, 1]);
  const draws = (probability: number): boolean => random.chance(probability * density);
  const some = <T>(values: readonly T[]): T[] => [
    ...new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(values))),
  ];
  const listed = (values: readonly string[]): string =>
    values.map((value) => `'${value}'`).join(', ');
  const equals = (
    name: 'type' | 'brandID' | 'categoryID' | 'currency',
    values: readonly string[],
  ): void => {
    Object.assign(query, { [name]: values });
    conditions.push([name, `"${name}" IN (${listed(values)})`]);
  };
  const differs = (name: 'type' | 'brandID', values: readonly string[]): void => {
    Object.assign(query, { [`${name}Not`]: values });
    conditions.push([name, `("${name}" NOT IN (${listed(values)}) OR "${name}" IS NULL)`]);
  };
  const exists = (name: 'price' | 'brandID' | 'categoryID'): void => {
    const isThere = random.chance(0.5);
    Object.assign(query, { [`${name}Exists`]: isThere });
    conditions.push([name, `"${name}" IS ${isThere ? 'NOT NULL' : 'NULL'}`]);
  };
  const bounds = (name: 'created' | 'updated', bound: 'Since' | 'Until', time: Date): void => {
    Object.assign(query, { [`${name}${bound}`]: time });
    const operator = bound === 'Since' ? '>=' : '<';
    conditions.push([`${name}At`, `"${name}At" ${operator} '${time.toISOString()}'`]);
  };
  const numbered = (letter: string, count: number): string[] =>
    some(Array.from({ length: count }, (_, at) => `${letter}${at}`));
  if (draws(0.4)) equals('type', some(TYPES));
  if (draws(0.25)) equals('brandID', numbered('b', 10));
  if (draws(0.25)) equals('categoryID', numbered('c', 5));
  if (draws(0.2)) equals('currency', some(['EUR', 'USD', 'JPY', 'XXX']));
  if (draws(0.15)) differs('type', some(TYPES));
  if (draws(0.2)) differs('brandID', numbered('b', 10));
  if (draws(0.2)) exists(random.pick(['price', 'brandID', 'categoryID'] as const));
  if (draws(0.2)) {
    const time = new Date(Date.UTC(2026, 0, 1 + random.below(300)));
    bounds('created', random.pick(['Since', 'Until'] as const), time);
  }
  if (draws(0.1)) bounds('updated', 'Until', new Date());
  if (draws(0.1)) {
    query.stockMin = random.below(4);
    conditions.push(['stock', `stock >= ${query.stockMin}`]);
  }
  if (draws(0.2)) {
    query.inStock = random.chance(0.7);
    conditions.push(['inStock', query.inStock ? 'stock > 0' : 'stock <= 0']);
  }
  const isBounded = (): boolean => (isInterval ? random.chance(0.7) : draws(0.25));
  if (isBounded()) {
    query.priceMin = String(random.below(250));
    conditions.push(['price', `price >= ${query.priceMin}`]);
  }
  if (isBounded()) {
    query.priceMax = String(50 + random.below(250));
    conditions.push(['price', `price <= ${query.priceMax}`]);
  }
  if (draws(0.4)) {
    const identifier = `p${String(random.below(NUMBERS)).padStart(6, '0')}`;
    query.q = random.pick([
      ...['lamp', 'robust', 'lamp robust', 'LÁMP', 'lam*', 'rob* la*'],
      ...[String(random.below(500)), `${random.below(50)}*`, identifier],
    ]);
    const words = query.q.replace('LÁMP', 'lamp').split(' ');
    // Words of letters and digits, with spaces between them.
    const contains = (text: string): string =>
      words
        .map((word) => `${text} ~ '\\m${word.endsWith('*') ? word.slice(0, -1) : `${word}\\M`}'`)
        .join(' AND ');
    const isNamed = `"productID" = '${query.q}'`;
    conditions.push(['words', `(${contains(`concat_ws(' ', name, description)`)} OR ${isNamed})`]);
    titled = `(${contains(`coalesce(name, '')`)} OR ${isNamed})`;
  }
  if (random.chance(0.4)) query.include = ['brand', 'category'].slice(...random.pick(INCLUDED));
  const sort: SortKey[] = random.chance(0.2)
    ? []
    : random
        .pick([
          ['productID'],
          ...(isInterval
            ? []
            : [
                ['name'],
                ['price'],
                ['createdAt'],
                ['updatedAt'],
                ['price', 'name'],
                ['name', 'productID'],
              ]),
        ])
        .map((field) => ({ field, direction: random.pick(['ASC', 'DESC'] as const) }));
  const isByRelevance = titled !== undefined && random.chance(0.5);
  query.sort = isByRelevance ? [{ field: RELEVANCE, direction: 'ASC' }, ...sort] : sort;
  const keys = sort.map(({ field, direction }) => `"${field}" ${direction} NULLS LAST`);
  if (!sort.some(({ field }) => field === 'productID')) {
    keys.push(`"productID" ${sort.at(-1)?.direction ?? 'ASC'}`);
  }
  if (isByRelevance) keys.unshift(`${titled} DESC`);
  return {
    query,
    conditions,
    where: whereOf(conditions),
    orderBy: keys.join(', '),
  };
}

/** A product with its related objects. */
interface Related {
  readonly productID: string;
  readonly brand?: { readonly name: string } | null;
  readonly category?: { readonly name: string } | null;
}

function whereOf(conditions: RandomList['conditions']): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.map(([, sql]) => sql).join(' AND ')}`;
}

/** A reader of lists on one connection, so that a transaction on it gives every page one snapshot. */
class SnapshotReader {
  private constructor(
    private readonly dataSource: DataSource,
    private readonly reader: ListReader,
    private readonly facetReader: FacetReader,
  ) {}

  static async open(url: string): Promise<SnapshotReader> {
    const dataSource = new DataSource(databaseOptions(url, { poolSize: 1 }));
    await dataSource.initialize();
    const reads = new ReadPool(dataSource, undefined);
    const settings = service.application.get(Settings);
    const statements = new StatementCache();
    const reader = new ListReader(
      settings,
      reads,
      new Versions(reads),
      // It opens a transaction of its own.
      service.application.get(Dependencies),
      statements,
      new WithheldLists(),
      new LoadingResources(),
      new PageReader(new KnownLists(), statements),
      service.application.get(UnscopedReads),
    );
    const facets = new FacetReader(settings, reads, reader, statements);
    return new SnapshotReader(dataSource, reader, facets);
  }

  /** Runs work in a transaction with one snapshot. */
  async inSnapshot(work: () => Promise<void>): Promise<void> {
    await this.dataSource.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      await work();
    } finally {
      await this.dataSource.query('ROLLBACK');
    }
  }

  /** A page as clients get it: the count, and of each product the identifier and the related names. */
  async page(query: ListProductsDto): Promise<[count: string, products: string[]]> {
    const listing = service.application.get(ProductsService).list(query);
    const { count, objects } = await this.reader.prepare(listing).read();
    const products = JSON.parse(objects) as Related[];
    const { include = [] } = query;
    return [
      count,
      products.map(({ productID, ...related }) => {
        const names = include.map((name) => related[name as 'brand' | 'category']?.name ?? 'none');
        return [productID, ...names].join(' ');
      }),
    ];
  }

  async plain({ query, where, orderBy }: RandomList): Promise<[string, string[]]> {
    const related = (query.include ?? []).map(
      (name) =>
        `(SELECT name FROM ${name === 'brand' ? 'brands' : 'categories'} AS related
          WHERE related."${name}ID" = object."${name}ID")`,
    );
    const shown = ['"productID"', ...related.map((name) => `coalesce(${name}, 'none')`)];
    const [{ count, products }] = await this.dataSource.query<
      [{ count: string; products: string[] }]
    >(
      `SELECT (SELECT count(*) FROM products ${where})::text AS count, ARRAY(
         SELECT concat_ws(' ', ${shown.join()}) FROM products AS object ${where}
         ORDER BY ${orderBy} LIMIT ${query.limit} OFFSET ${query.offset}
       ) AS products`,
    );
    return [count, products];
  }

  /** Facet counts as clients get them: how many there are, and each as text. */
  async facets(query: ListProductsDto, limit: number): Promise<[count: string, counts: string[]]> {
    const list = service.application.get(ProductsService).list(query);
    const counts = new FacetCounts(list, FACETS, limit);
    const { count, objects } = await this.facetReader.prepare(counts).read();
    const rows = JSON.parse(objects) as { field: string; value: string; count: string }[];
    return [count, rows.map(({ field, value, count: of }) => `${field} ${value} ${of}`)];
  }

  async plainFacets({ conditions }: RandomList, limit: number): Promise<[string, string[]]> {
    let total = 0;
    const counts: string[] = [];
    for (const field of FACETS) {
      const where = whereOf(conditions.filter(([column]) => column !== field));
      const rows = await this.dataSource.query<{ value: string | null; count: string }[]>(
        `SELECT "${field}"::text AS value, count(*) FROM products ${where} GROUP BY "${field}"
         ORDER BY count(*) DESC, "${field}"::text COLLATE "C"`,
      );
      const valued = rows.filter(({ value }) => value !== null);
      total += valued.length;
      const first = valued.slice(0, limit);
      counts.push(...first.map(({ value, count }) => `${field} ${value} ${count}`));
    }
    return [String(total), counts];
  }

  close(): Promise<void> {
    return this.dataSource.destroy();
  }
}

async function write(random: Random, until: number): Promise<number> {
  let written = 0;
  const runner = service.dataSource.createQueryRunner();
  while (performance.now() < until) {
    await runner.startTransaction();
    try {
      for (let left = 1 + random.below(3); left > 0; left -= 1) await change(runner, random);
      await (random.chance(0.25) ? runner.rollbackTransaction() : runner.commitTransaction());
      written += 1;
    } catch (error) {
      await runner.rollbackTransaction();
      // A deadlock is expected if two writers change the same objects in different orders.
      if (driverErrorOf(error).code !== '40P01') throw error;
    }
    // Readers need a turn, and a cut needs a moment without a writer.
    await sleep(random.below(40));
  }
  await runner.release();
  return written;
}

function change(runner: QueryRunner, random: Random): Promise<unknown> {
  const at = random.below(NUMBERS);
  const range = (length: number): string =>
    `"productID" >= 'p${String(at).padStart(6, '0')}'
     AND "productID" < 'p${String(at + length).padStart(6, '0')}'`;
  return runner.query(
    random.pick([
      insertion(at, random.below(400)),
      insertion(at, 1),
      // The triggers count many rows in another way than few.
      insertion(at, 1500),
      `UPDATE products SET price = price + 1, name = 'lamp' WHERE ${range(2000)}`,
      `DELETE FROM products WHERE ${range(random.below(400))}`,
      `UPDATE products SET price = price + 1 WHERE ${range(1 + random.below(20))}`,
      `UPDATE products SET price = NULL WHERE ${range(random.below(50))}`,
      `UPDATE products SET stock = 3 - stock WHERE ${range(random.below(50))}`,
      `UPDATE products SET "brandID" = NULL, currency = 'USD' WHERE ${range(random.below(50))}`,
      `UPDATE products SET type = 'DIGITAL', "brandID" = 'b1' WHERE ${range(random.below(100))}`,
      `UPDATE products SET "categoryID" = 'c3', name = 'moved' WHERE ${range(random.below(50))}`,
      `UPDATE brands SET name = name || 'b' WHERE "brandID" = 'b${random.below(10)}' AND length(name) < 90`,
      `UPDATE categories SET name = name || 'c' WHERE "categoryID" = 'c${random.below(5)}' AND length(name) < 90`,
    ]),
  );
}

describe('Lists under eight writers', () => {
  it(
    'have the count, the page, its related objects and the facets of plain SQL in the same snapshot',
    async () => {
      const products = resourcesOf(service.dataSource).get('products');
      if (!products) throw new Error('There are no products');
      let compared = 0;
      const read = async (random: Random): Promise<void> => {
        const reader = await SnapshotReader.open(service.database.url);
        let lists = Array.from({ length: 5 }, () => randomList(random));
        while (performance.now() < until) {
          await reader.inSnapshot(async () => {
            for (const list of lists) {
              const { query } = list;
              const values = random.pick([0, 1, 4, 50]);
              const wantedFacets = await reader.plainFacets(list, values);
              const facets = await reader.facets(query, values);
              expect({ list, facets }).toEqual({ list, facets: wantedFacets });
              // A walk with the same limit may be one whose pages were read ahead in an older snapshot.
              if (query.limit === undefined || random.chance(0.5)) {
                query.limit = random.pick([0, 1, 7, 50, 300]);
              }
              // Some of the lists are walked on, in this snapshot or from an older one.
              const offset = random.chance(0.3)
                ? 0
                : random.below(NUMBERS / random.pick([1, 5, 50]));
              query.offset ??= offset;
              let after: string | undefined;
              const pages = random.chance(0.2) ? 9 : 3;
              for (let page = 0; page < pages; page += 1) {
                const wanted = await reader.plain(list);
                const place = after === undefined ? {} : { after, offset: undefined };
                const found = await reader.page(Object.assign(new ListProductsDto(), query, place));
                expect({ list, page: found }).toEqual({ list, page: wanted });
                compared += 1;
                query.offset += query.limit;
                // Some are walked on behind the last object, others by the offset.
                after = random.chance(0.3) ? wanted[1].at(-1)?.split(' ', 1)[0] : undefined;
              }
            }
          });
          lists = lists.map((list) => (random.chance(0.5) ? list : randomList(random)));
        }
        await reader.close();
      };
      const until = performance.now() + DURATION * 1000;
      const maintain = async (): Promise<void> => {
        const maintenance = new TallyMaintenance(service.dataSource, products);
        while (performance.now() < until) {
          await maintenance.run();
          await sleep(20);
        }
      };
      const chooseWords = async (): Promise<void> => {
        const words = productWords(service);
        while (performance.now() < until) {
          await words.run();
          await sleep(200);
          // As if it had become rare. The statistics bring it back.
          await service.dataSource.query(
            `DELETE FROM products_tally_by_words_counted WHERE word = $1 AND random() < 0.5`,
            ['robust'],
          );
        }
        while (!(await words.run())) await sleep(50);
      };
      const writers = Array.from({ length: WRITERS }, (_, at) =>
        write(new Random(`writer ${at}`), until),
      );
      await Promise.all([
        ...writers,
        maintain(),
        chooseWords(),
        read(new Random('reader 0')),
        read(new Random('reader 1')),
      ]);
      const written = (await Promise.all(writers)).reduce((sum, each) => sum + each, 0);
      expect(compared).toBeGreaterThan(0);
      expect(written).toBeGreaterThan(0);
      expect(
        await service.dataSource.query(
          'SELECT * FROM products_tally_by_words_counted ORDER BY word',
        ),
      ).toEqual(
        ['^lamp', '^name', 'lamp', 'name', 'robust'].map((word) => ({ word, is_counted: true })),
      );
      expect(await miscounts(service.dataSource, products)).toEqual([]);
    },
    (DURATION + 60) * 1000,
  );
});
