import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { demoCatalogue } from '../src/demo/demo-catalogue.js';

const [brands, categories, products] = demoCatalogue.map((resource) => [...resource.rows()]) as [
  Row[],
  Row[],
  Row[],
];

type Row = Record<string, string | number | null>;

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
  it('gives brands, categories and products, in this order', () => {
    expect(demoCatalogue.map(({ resource }) => resource)).toEqual([
      'brands',
      'categories',
      'products',
    ]);
    expect([brands.length, categories.length, products.length]).toEqual([45, 64, 3000]);
  });

  it.each([
    ['brands', brands, 'brandID name createdAt'],
    ['categories', categories, 'categoryID parentID name createdAt'],
    [
      'products',
      products,
      'productID refID type name description brandID categoryID price currency stock imageURL createdAt',
    ],
  ])('gives every row of %s the same fields, in the same order', (_, rows, fields) => {
    expect(new Set(rows.map((row) => Object.keys(row).join(' ')))).toEqual(new Set([fields]));
  });

  it.each([
    ['brands', brands, 'brandID', /^[a-z]+(-[a-z]+)*$/],
    ['categories', categories, 'categoryID', /^[a-z]+(-[a-z]+)*$/],
    ['products', products, 'productID', /^p-[0-9]{6}$/],
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
    for (const rows of [brands, categories, products]) {
      expect(rows.filter(({ name }) => !name)).toEqual([]);
      expect(longest(rows, 'name')).toBeLessThanOrEqual(500);
    }
    expect(longest(products, 'description')).toBeLessThanOrEqual(10_000);
    expect(longest(products, 'refID')).toBeLessThanOrEqual(100);
    expect(longest(products, 'imageURL')).toBeLessThanOrEqual(2048);
  });

  it('writes times as RFC 3339 in UTC with milliseconds, from 2025-01-01 to 2026-06-30', () => {
    const times = [brands, categories, products].flatMap((rows) => column(rows, 'createdAt'));
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

  it('gives the same rows at every call', () => {
    const again = demoCatalogue.flatMap((resource) => [...resource.rows()]);
    expect(digest(again)).toBe(digest([...brands, ...categories, ...products]));
  });

  // The examples of the README are read by people who run them elsewhere: their first page must be
  // ours. A digest shows a generator that depends on the machine, the Node version or the time, which
  // two calls on one machine cannot. Whoever changes the catalogue on purpose puts in the new digest.
  it('is the same on every machine', () => {
    expect(digest([...brands, ...categories, ...products])).toBe(
      '4a437b2299583ea29659d411697bab021cf78caa934b105be5e81b26308fd032',
    );
  });
});
