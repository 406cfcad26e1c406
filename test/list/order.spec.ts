import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ProductType } from '../../src/products/product.entity.js';
import { Random } from '../random.js';
import { type Service, startService } from '../service.js';

const PRODUCTS = 50;
const LIMIT = 7;

let service: Service;

beforeAll(async () => {
  service = await startService();
  const random = new Random('order');
  await service.load(
    'products',
    Array.from({ length: PRODUCTS }, (_, at) => ({
      productID: `p${String(at).padStart(3, '0')}`,
      // Some lists are one facet of the tally, and others two.
      type: random.pick(Object.values(ProductType)),
      // More objects have the same value, or none, than a page has.
      name: random.chance(0.7) ? `lamp ${random.below(3)}` : null,
      description: random.chance(0.5) ? 'lamp' : null,
      price: random.chance(0.7) ? String(random.below(4)) : null,
      currency: 'EUR',
    })),
  );
});
afterAll(() => service.stop());

/** The order of each list as PostgreSQL writes it. */
const ORDERS: Readonly<Record<string, string>> = {
  productID: '"productID"',
  '-productID': '"productID" DESC',
  price: 'price, "productID"',
  '-price': 'price DESC NULLS LAST, "productID" DESC',
  '-updatedAt': '"updatedAt" DESC, "productID" DESC',
  'price,name': 'price, name, "productID"',
  '-price,name': 'price DESC NULLS LAST, name, "productID"',
  'price,-name': 'price, name DESC NULLS LAST, "productID" DESC',
  '-price,-name': 'price DESC NULLS LAST, name DESC NULLS LAST, "productID" DESC',
  'price,-productID': 'price, "productID" DESC',
  '-price,productID': 'price DESC NULLS LAST, "productID"',
};

const FILTERS: Readonly<Record<string, string>> = {
  '': 'true',
  '&type=PHYSICAL': `type = 'PHYSICAL'`,
  '&type=PHYSICAL,SERVICE': `type IN ('PHYSICAL', 'SERVICE')`,
  '&priceMin=1&priceMax=2': 'price BETWEEN 1 AND 2',
  '&priceExists=false': 'price IS NULL',
  '&q=lamp': `(name IS NOT NULL OR description IS NOT NULL)`,
};

/** The identifiers of a list, by plain SQL. */
async function plain(where: string, order: string): Promise<readonly string[]> {
  const rows = await service.dataSource.query<{ productID: string }[]>(
    `SELECT "productID" FROM products WHERE ${where} ORDER BY ${order}`,
  );
  return rows.map(({ productID }) => productID);
}

async function read(path: string): Promise<string[]> {
  const { body } = await service.get(path).expect(200);
  const { objects } = body.response_data as { objects: { productID: string }[] };
  return objects.map(({ productID }) => productID);
}

async function stream(path: string): Promise<string[]> {
  const { text } = await service.get(path).set('Accept', 'text/csv').expect(200);
  return text.trim().split(/\r?\n/).slice(1);
}

/** Compares each page by offset, each behind an object, and the whole list with plain SQL. */
async function compare(list: string, all: readonly string[]): Promise<void> {
  for (let at = 0; at <= all.length; at += 1) {
    // Pages with every field have statements of their own.
    const page = `${list}${at % 2 === 0 ? '' : '&fields=productID'}&limit=${LIMIT}`;
    const path = `${page}&offset=${at}`;
    expect({ path, ids: await read(path) }).toEqual({ path, ids: all.slice(at, at + LIMIT) });
    if (at === 0) continue;
    const behind = `${page}&after=${all[at - 1]}`;
    expect({ behind, ids: await read(behind) }).toEqual({
      behind,
      ids: all.slice(at, at + LIMIT),
    });
  }
  for (const [more, ids] of [
    ['', all],
    ['&offset=5&limit=30', all.slice(5, 35)],
    [`&after=${all[LIMIT]}`, all.slice(LIMIT + 1)],
  ] as const) {
    const path = `${list}&fields=productID${more}`;
    expect({ path, ids: await stream(path) }).toEqual({ path, ids });
  }
}

describe('Objects without a value come last, and equal ones in the direction of the last name', () => {
  it.each(Object.entries(ORDERS))('sort=%s is ORDER BY %s', async (sort, order) => {
    for (const [filter, where] of Object.entries(FILTERS)) {
      const all = await plain(where, order);
      expect(all.length).toBeGreaterThan(LIMIT);
      await compare(`/products?sort=${sort}${filter}`, all);
    }
  });

  it.each([
    ['relevance', '"productID"'],
    ['relevance,-price', ORDERS['-price']],
    ['relevance,price,-name', ORDERS['price,-name']],
  ])('sort=%s is that of titled objects, and then of others', async (sort, order) => {
    const all = await plain(FILTERS['&q=lamp'] ?? '', `name IS NULL, ${order}`);
    await compare(`/products?q=lamp&sort=${sort}`, all);
  });
});
