import { beforeEach, describe, expect, it } from '@jest/globals';
import { Not } from 'typeorm';
import { ListReader } from '#server/list/reading/list-reader.js';
import { VisibleListing } from '#server/list/visibility/visible-listing.js';
import { conditionsFrom } from '#server/list/condition/from-typeorm.js';
import { within } from '@catalogue/server';
import { Brand } from '../../src/brands/brand.entity.js';
import { Category } from '../../src/categories/category.entity.js';
import { Listing } from '#server/list/listing/listing.js';
import { Product, ProductType } from '../../src/products/product.entity.js';
import { sharedService } from '../service.js';

const service = sharedService();
const query = (text: string, values: unknown[] = []) => service.dataSource.query(text, values);

interface Body {
  response_data: { count: string; objects: Record<string, unknown>[] };
}

async function productsOf(parameters: string): Promise<[string, unknown[]]> {
  const { body } = await service.get(`/products?fields=productID&${parameters}`).expect(200);
  const { count, objects } = (body as Body).response_data;
  return [count, objects.map(({ productID }) => productID)];
}

/** `a` with `a1` and `a2` below it, `a11` below `a1`, and `b` beside it; two products in each. */
beforeEach(async () => {
  await query('TRUNCATE categories CASCADE');
  const parents = { a: null, a1: 'a', a2: 'a', a11: 'a1', b: null };
  await service.load(
    'categories',
    Object.entries(parents).map(([categoryID, parentID]) => ({
      categoryID,
      parentID,
      name: categoryID,
    })),
  );
  await service.load(
    'products',
    Object.keys(parents).flatMap((categoryID) =>
      [ProductType.DIGITAL, ProductType.PHYSICAL].map((type) => ({
        productID: `${categoryID}-${type}`,
        type,
        categoryID,
      })),
    ),
  );
  await service.load('products', [{ productID: 'none', type: ProductType.SERVICE }]);
});

describe('within', () => {
  it.each([
    ['a category and all below it', 'within=a&type=DIGITAL', ['a', 'a1', 'a11', 'a2']],
    ['a part of the tree', 'within=a1&type=DIGITAL', ['a1', 'a11']],
    ['a category with none below it', 'within=a11&type=DIGITAL', ['a11']],
    ['several, also one below the other', 'within=a1,b,a11&type=DIGITAL', ['a1', 'a11', 'b']],
    ['what another filter leaves', 'within=a&categoryID=a2,b&type=DIGITAL', ['a2']],
    ['nothing of a category that is not there', 'within=c', []],
    ['the rest, besides one that is not there', 'within=c,b&type=DIGITAL', ['b']],
  ])('lists %s', async (_, parameters, categories) => {
    const identifiers = categories.map((categoryID) => `${categoryID}-DIGITAL`);
    expect(await productsOf(parameters)).toEqual([String(identifiers.length), identifiers]);
  });

  it('lists categories, too', async () => {
    const { body } = await service.get('/categories?within=a1&fields=categoryID').expect(200);
    expect((body as Body).response_data).toEqual({
      count: '2',
      objects: [{ categoryID: 'a1' }, { categoryID: 'a11' }],
    });
  });

  it('moves a subtree at once: no page and no entity tag outlives the move', async () => {
    const path = '/products?within=b&fields=productID';
    const { headers } = await service.get(path).expect(200);
    const tag = headers.etag ?? '';
    await service.get(path).set('If-None-Match', tag).expect(304);
    expect(await productsOf('within=b')).toEqual(['2', ['b-DIGITAL', 'b-PHYSICAL']]);
    await query(`UPDATE categories SET "parentID" = 'b' WHERE "categoryID" = 'a1'`);
    await service.get(path).set('If-None-Match', tag).expect(200);
    expect((await productsOf('within=b'))[0]).toBe('6');
    expect((await productsOf('within=a'))[0]).toBe('4');
  });

  it('ends in a cycle, which only SQL can make', async () => {
    await query(`UPDATE categories SET "parentID" = 'a11' WHERE "categoryID" = 'a'`);
    expect((await productsOf('within=a1'))[0]).toBe('8');
  });

  it('is looked up in another operator, too', async () => {
    const products = service.dataSource.getRepository(Product);
    const others = { categoryID: Not(within(Category, ['a'])) };
    const conditions = conditionsFrom(products.metadata, others);
    const listing = VisibleListing.of(new Listing(products, {}, conditions), undefined);
    const list = service.application.get(ListReader).prepare(listing);
    expect(listing.resources).toEqual(['products', 'categories']);
    expect(list.isVersioned).toBe(true);
    expect((await list.read()).count).toBe('2');
  });

  it('needs a resource that refers to itself', () => {
    const { metadata } = service.dataSource.getRepository(Product);
    expect(() => conditionsFrom(metadata, { brandID: within(Brand, ['b']) })).toThrow(
      'Brand has no @ForeignKey to itself',
    );
  });
});
