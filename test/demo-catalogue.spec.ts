import { createHash } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { DEMO_RESOURCES, demoRows, loadDemonstration } from '../src/demo/load-demonstration.js';
import { BuiltCopy } from './database/built-copy.js';
import { startService } from './service.js';

const [brands, categories, products, variants] = (await Promise.all(
  DEMO_RESOURCES.map(rowsOf),
)) as [Row[], Row[], Row[], Row[]];

type Row = Record<string, string | number | string[] | null>;

/** SHA-256 of the rows of all four, each as JSON on a line. */
const DIGEST = '9ecb038a6703814d6638a686a22f966b495e0a6104838ff539a1d402cb3c836e';

/** The rows of a file as objects, an empty cell as null, a stock as a number, and colours as a list. */
async function rowsOf(resource: (typeof DEMO_RESOURCES)[number]): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of demoRows(resource)) {
    for (const { columns, cells } of batch) {
      if (cells)
        rows.push(Object.fromEntries(columns.map((name, at) => [name, value(name, cells[at])])));
    }
  }
  return rows;
}

function value(column: string, cell: unknown): string | number | string[] | null {
  if (typeof cell !== 'string') return null;
  if (column === 'colours') return JSON.parse(cell) as string[];
  return column === 'stock' ? Number(cell) : cell;
}

function column(rows: Row[], key: string): unknown[] {
  return rows.map((row) => row[key]);
}

function longest(rows: Row[], key: string): number {
  return Math.max(...rows.map((row) => String(row[key] ?? '').length));
}

function digest(rows: Row[]): string {
  const lines = rows.map((row) => JSON.stringify(row));
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

describe('the demonstration catalogue', () => {
  it('gives brands, categories, products and variants, in this order', () => {
    expect(DEMO_RESOURCES).toEqual(['brands', 'categories', 'products', 'variants']);
    expect([brands, categories, products, variants].map(({ length }) => length)).toEqual([
      45, 64, 3000, 324,
    ]);
  });

  it.each([
    ['brands', brands, 'brandID name createdAt'],
    ['categories', categories, 'categoryID parentID name createdAt'],
    [
      'products',
      products,
      'productID refID type name description brandID categoryID price currency stock colours imageURL createdAt',
    ],
    ['variants', variants, 'variantID productID name price currency stock createdAt'],
  ])('gives every row of %s the same fields, in the same order', (_, rows, fields) => {
    expect(new Set(rows.map((row) => Object.keys(row).join(' ')))).toEqual(new Set([fields]));
  });

  it.each([
    ['brands', brands, 'brandID', /^[a-z]+(-[a-z]+)*$/],
    ['categories', categories, 'categoryID', /^[a-z]+(-[a-z]+)*$/],
    ['products', products, 'productID', /^p-[0-9]{6}$/],
    ['variants', variants, 'variantID', /^p-[0-9]{6}-[0-9]$/],
  ])('gives %s identifiers that are well-formed, short and unique', (_, rows, key, form) => {
    expect(column(rows, key).filter((id) => !form.test(String(id)))).toEqual([]);
    expect(longest(rows, key)).toBeLessThanOrEqual(100);
    expect(new Set(column(rows, key)).size).toBe(rows.length);
  });

  it('names a parent before its children, in three levels', () => {
    const level = new Map<unknown, number>([[null, 0]]);
    for (const { categoryID, parentID } of categories) {
      expect([...level.keys()]).toContain(parentID);
      level.set(categoryID, (level.get(parentID) ?? 0) + 1);
    }
    expect(Math.max(...level.values())).toBe(3);
  });

  it('refers to brands and categories that exist, and leaves no brand without a product', () => {
    const used = new Set(column(products, 'brandID'));
    expect(used).toEqual(new Set(column(brands, 'brandID')));
    const known = column(categories, 'categoryID');
    expect(column(products, 'categoryID').filter((id) => !known.includes(id))).toEqual([]);
  });

  it('has variants of products that exist, with names of their own and the least price of the product', () => {
    const known = new Map(products.map((product) => [product.productID, product]));
    const least = new Map<unknown, number>();
    const names = new Set<string>();
    for (const { productID, name, price, currency } of variants) {
      expect(known.get(productID ?? null)?.currency).toBe(currency);
      least.set(productID, Math.min(least.get(productID) ?? Infinity, Number(price)));
      names.add(`${String(productID)} ${String(name)}`);
    }
    expect(names.size).toBe(variants.length);
    for (const [productID, price] of least) {
      expect(price).toBe(Number(known.get(productID as string)?.price));
    }
  });

  it('names colours of products once, each a word', () => {
    const lists = column(products, 'colours').filter((each) => Array.isArray(each));
    expect(lists.filter((items) => new Set(items).size < items.length)).toEqual([]);
    const colours = lists.flat();
    expect(colours.filter((colour) => !/^[a-z]+$/.test(String(colour)))).toEqual([]);
    expect(new Set(colours).size).toBeGreaterThan(5);
  });

  it('puts products on every shelf, and on shelves only', () => {
    const parents = column(categories, 'parentID');
    const shelves = column(categories, 'categoryID').filter((id) => !parents.includes(id));
    expect(new Set(column(products, 'categoryID'))).toEqual(new Set(shelves));
  });

  it('has products of all types, and a stock for those that lie in one', () => {
    expect(new Set(column(products, 'type'))).toEqual(new Set(['PHYSICAL', 'DIGITAL', 'SERVICE']));
    const wrong = products.filter(({ type, stock }) =>
      type === 'PHYSICAL' ? !Number.isInteger(stock) || Number(stock) < 0 : stock !== null,
    );
    expect(wrong).toEqual([]);
    expect(column(products, 'stock')).toContain(0);
  });

  it('gives a price with the decimals of its currency, or neither price nor currency', () => {
    const wrong = products.filter(({ price, currency }) => {
      if (price === null || currency === null) return price !== currency;
      const form = currency === 'JPY' ? /^[1-9][0-9]{0,14}$/ : /^[1-9][0-9]{0,14}\.[0-9]{2}$/;
      return !form.test(String(price));
    });
    expect(wrong).toEqual([]);
    expect(new Set(column(products, 'currency'))).toEqual(
      new Set(['EUR', 'USD', 'GBP', 'JPY', null]),
    );
  });

  it('keeps within the limits of the fields', () => {
    for (const rows of [brands, categories, products, variants]) {
      expect(rows.filter(({ name }) => !name)).toEqual([]);
      expect(longest(rows, 'name')).toBeLessThanOrEqual(500);
    }
    expect(longest(products, 'description')).toBeLessThanOrEqual(10_000);
    expect(longest(products, 'refID')).toBeLessThanOrEqual(100);
    expect(longest(products, 'imageURL')).toBeLessThanOrEqual(2048);
  });

  it('writes times as RFC 3339 in UTC with milliseconds, from 2025-01-01 to 2026-06-30', () => {
    const times = [brands, categories, products, variants].flatMap((rows) =>
      column(rows, 'createdAt'),
    );
    const form = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/;
    expect(times.filter((time) => !form.test(String(time)))).toEqual([]);
    const sorted = times.map(String).sort();
    expect(sorted.at(0)?.slice(0, 7)).toBe('2025-01');
    expect(sorted.at(-1)?.slice(0, 7)).toBe('2026-06');
  });

  it('reads like a shop: no name twice, no placeholder left, sentences that begin and end', () => {
    expect(new Set(column(products, 'name')).size).toBe(products.length);
    const texts = products.map(({ name, description }) => `${String(name)} ${String(description)}`);
    expect(texts.filter((text) => /[{}]|undefined|null|NaN| {2}/.test(text))).toEqual([]);
    const wrong = column(products, 'description').filter(
      (description) => !/^[A-Z].*\.$/.test(String(description)),
    );
    expect(wrong).toEqual([]);
  });

  it('has names that put quoting and encoding to the test', () => {
    const names = column(products, 'name').join('\n');
    for (const character of ['"', "'", ',', '&', 'é', 'Ø', '×']) expect(names).toContain(character);
  });

  // Examples in the documentation show its first pages, and tests its counts. A change of the
  // catalogue on purpose comes with a new digest.
  it('has the rows that the documentation shows', () => {
    expect(digest([...brands, ...categories, ...products, ...variants])).toBe(DIGEST);
  });

  it('has the same rows in a database into which it was loaded', async () => {
    const service = await startService();
    try {
      await loadDemonstration(service.dataSource);
      const loaded: Row[] = [];
      for (const [resource, rows] of [
        ['brands', brands],
        ['categories', categories],
        ['products', products],
        ['variants', variants],
      ] as const) {
        const keys = Object.keys(rows[0] ?? {});
        const [identifier = ''] = keys;
        const objects = await service.dataSource.getRepository<Row>(resource).find();
        expect(objects).toHaveLength(rows.length);
        const found = new Map(objects.map((object) => [object[identifier], object]));
        for (const row of rows) {
          const object = found.get(row[identifier] ?? null);
          // As JSON a time is text, as it is in the file.
          loaded.push(Object.fromEntries(keys.map((key) => [key, object?.[key] ?? null])));
        }
      }
      expect(digest(loaded)).toBe(DIGEST);
    } finally {
      await service.stop();
    }
  });

  it('is loaded however long a statement takes, with no limit of requests', async () => {
    const service = await startService({ QUERY_TIMEOUT_MS: '500', POOL_SIZE: '1' });
    try {
      // Longer than the limit of a request, and than a request waits for a word of the server.
      await service.dataSource.query(
        `CREATE FUNCTION rest() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1.8); RETURN NULL; END $$;
         CREATE TRIGGER rest AFTER INSERT ON brands EXECUTE FUNCTION rest()`,
      );
      await loadDemonstration(service.dataSource);
      await expect(service.dataSource.query('SELECT pg_sleep(5)')).rejects.toThrow('timeout');
    } finally {
      await service.stop();
    }
  });

  it('ends the start with one line where a file is missing', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'catalogue-demo-'));
    // As root, the embedded server runs as another user.
    await chmod(dataDir, 0o755);
    // The copy has no folder `demo`.
    const copy = await BuiltCopy.make([]);
    try {
      const start = copy.run(['start'], { DATA_DIR: dataDir, PORT: '0' });
      expect(await start.ended).toBe(1);
      expect(start.stderr()).toMatch(
        /^catalogue: \S+\/demo\/brands\.csv cannot be read: ENOENT: .*\n$/,
      );
    } finally {
      await copy.remove();
      await rm(dataDir, { recursive: true });
    }
  });
});
