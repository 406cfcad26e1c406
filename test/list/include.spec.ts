import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { ProductType } from '../../src/products/product.entity.js';
import { refusal, sharedService } from '../service.js';

const service = sharedService();

type Row = Record<string, unknown>;

async function objectsOf(path: string): Promise<Row[]> {
  const { body } = await service.get(path).expect(200);
  return (body as { response_data: { objects: Row[] } }).response_data.objects;
}

beforeAll(async () => {
  await service.load('brands', [
    { brandID: 'b1', name: 'Acme, "the" first' },
    { brandID: 'b2', name: 'Emca' },
  ]);
  await service.load('categories', [{ categoryID: 'top', parentID: null, name: 'Top' }]);
  await service.load('categories', [{ categoryID: 'low', parentID: 'top', name: 'Low' }]);
  await service.load(
    'products',
    Array.from({ length: 30 }, (_, at) => ({
      productID: `p${String(at).padStart(2, '0')}`,
      type: [ProductType.DIGITAL, ProductType.PHYSICAL][at % 2],
      brandID: [null, 'b1', 'b2'][at % 3],
      categoryID: [null, 'low'][at % 2],
      price: String(at % 7),
      currency: 'EUR',
    })),
  );
});

describe('include', () => {
  const lists = [
    '/products?limit=20',
    '/products?offset=7&limit=9',
    '/products?sort=-price&offset=3',
    '/products?type=DIGITAL',
    '/products?type=DIGITAL&categoryID=low,nowhere',
    '/products?within=top&sort=price',
    '/products?after=p03&limit=4',
    '/products?brandID=nowhere',
  ];
  it.each(lists)('puts the objects into those of %s, as their own list has them', async (path) => {
    const plain = await objectsOf(path);
    const brands = await objectsOf('/brands');
    const categories = await objectsOf('/categories');
    const objects = await objectsOf(`${path}&include=category,brand`);
    expect(objects).toEqual(
      plain.map((product) => ({
        ...product,
        brand: brands.find(({ brandID }) => brandID === product.brandID) ?? null,
        category: categories.find(({ categoryID }) => categoryID === product.categoryID) ?? null,
      })),
    );
    const [first] = objects;
    expect(Object.keys(first ?? {}).slice(-2)).toEqual(first ? ['brand', 'category'] : []);
    const stream = await service
      .get(`${path}&include=category,brand${path.includes('limit') ? '' : '&limit=50'}`)
      .set('Accept', 'application/x-ndjson');
    const lines = stream.text.split('\n').filter((line) => line !== '');
    expect(lines.map((line) => JSON.parse(line) as Row)).toEqual(objects);
  });

  it.each([
    ['fields=productID,brand.name', { productID: 'p01', brand: { name: 'Acme, "the" first' } }],
    ['fields=brand.name,brand.brandID', { brand: { brandID: 'b1', name: 'Acme, "the" first' } }],
    [
      'include=category,brand&fields=type,brand.brandID,category.parentID',
      { type: 'PHYSICAL', brand: { brandID: 'b1' }, category: { parentID: 'top' } },
    ],
  ])('goes with %s', async (query, expected) => {
    expect(await objectsOf(`/products?productID=p01&${query}`)).toEqual([expected]);
  });

  it('adds all fields where none of the object is named', async () => {
    const [brand] = await objectsOf('/brands?brandID=b1');
    const path = '/products?productID=p01&fields=productID&include=brand';
    expect(await objectsOf(path)).toEqual([{ productID: 'p01', brand }]);
  });

  it('has columns in CSV', async () => {
    const { text } = await service
      .get('/products?fields=productID,brand.name,category.name,brand.updatedAt&limit=2')
      .set('Accept', 'text/csv')
      .expect(200);
    const [, one] = await objectsOf('/products?fields=brand.updatedAt&limit=2');
    expect(parse(text)).toEqual([
      ['productID', 'brand.name', 'brand.updatedAt', 'category.name'],
      ['p00', '', '', ''],
      ['p01', 'Acme, "the" first', (one?.brand as Row).updatedAt, 'Low'],
    ]);
  });

  it('puts parents into categories', async () => {
    const path = '/categories?fields=categoryID,parent.name';
    expect(await objectsOf(path)).toEqual([
      { categoryID: 'low', parent: { name: 'Top' } },
      { categoryID: 'top', parent: null },
    ]);
  });

  it.each(['/products?include=brand&limit=3', '/products?fields=brand.name&sort=-price&limit=3'])(
    'never shows an old object: the pages of %s change with the other resource',
    async (path) => {
      const before = await service.get(path).expect(200);
      const tag = before.headers.etag ?? '';
      await service.get(path).set('If-None-Match', tag).expect(304);
      await service.get(path).expect(200).expect('ETag', tag);
      const name = `Renamed for ${path}`;
      await service.dataSource.query(`UPDATE brands SET name = $1`, [name]);
      const after = await service.get(path).set('If-None-Match', tag).expect(200);
      expect(after.text).toContain(name);
      expect(after.headers.etag).not.toBe(tag);
      // A list that does not show brands does not depend on them.
      const { headers } = await service.get('/products').expect(200);
      await service.dataSource.query(`UPDATE brands SET name = 'Acme, "the" first'`);
      await service
        .get('/products')
        .set('If-None-Match', headers.etag ?? '')
        .expect(304);
    },
  );

  it('puts the objects into a single one, as the list does', async () => {
    for (const query of [
      'include=brand',
      'include=category,brand',
      'fields=productID,brand.name',
      'include=category&fields=name,brand.name,brand.brandID',
    ]) {
      for (const product of ['p00', 'p01', 'p03']) {
        const [inList] = await objectsOf(`/products?productID=${product}&${query}`);
        expect(await objectsOf(`/products/${product}?${query}`)).toEqual([inList]);
      }
    }
    const [top] = await objectsOf('/categories/top');
    expect(await objectsOf('/categories/low?fields=name&include=parent')).toEqual([
      { name: 'Low', parent: top },
    ]);
    expect(await objectsOf('/categories/top?fields=name&include=parent')).toEqual([
      { name: 'Top', parent: null },
    ]);
  });

  it('gives a single object another ETag when an included one changes', async () => {
    const path = '/products/p01?include=brand';
    const { headers: before } = await service.get(path).expect(200);
    const { headers: plain } = await service.get('/products/p01').expect(200);
    const unless = (url: string, tag = '') => service.get(url).set('If-None-Match', tag);
    await unless(path, before.etag).expect(304);
    await service.dataSource.query(`UPDATE brands SET name = 'Renamed' WHERE "brandID" = 'b1'`);
    const after = await unless(path, before.etag).expect(200);
    expect(after.body.response_data.objects[0].brand.name).toBe('Renamed');
    expect(after.headers.etag).not.toBe(before.etag);
    await unless('/products/p01', plain.etag).expect(304);
    await service.dataSource.query(`UPDATE brands SET name = 'Acme, "the" first'`);
  });

  it('is -25 for what cannot be included, and -22 where it is empty', async () => {
    // Behind these, there may be children of resources that were generated.
    for (const [path, message] of [
      [
        '/products?include=brand,maker',
        'include must not name maker; it may name brand, category, variants',
      ],
      [
        '/products/p01?include=maker',
        'include must not name maker; it may name brand, category, variants',
      ],
      [
        '/categories?fields=parent.parent',
        'fields must not name parent.parent; it may name categoryID, parentID, name, createdAt, updatedAt, parent.categoryID, parent.parentID, parent.name, parent.createdAt, parent.updatedAt',
      ],
    ] as const) {
      const { body } = await service.get(path).expect(400);
      const msg = expect.stringContaining(`The parameter ${message}`);
      expect(body.result).toEqual({ status: 'ERROR', errcode: '-25', msg });
    }
    await service
      .get('/products?include=')
      .expect(
        400,
        refusal(-22, 'The parameter include must be names of related objects, separated by commas'),
      );
  });
});
