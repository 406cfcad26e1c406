import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Product } from '../src/products/product.entity.js';
import { describeList } from '@catalogue/server/testing';
import { AppModule } from '../src/app.module.js';
import { refusal, sharedService } from './service.js';

/** The products that have a variant. */
const inSizes = new Set<unknown>();

describeList(Product, AppModule, {
  // As its checks demand: no price below zero, and none without a currency.
  values: {
    price: (at) => (at % 9 === 0 ? null : ['9.99', '10', '10.0', '1000.5', '0'][at % 5]),
    currency: (at) => (at % 9 === 0 ? null : ['EUR', 'USD', 'GBP'][at % 3]),
  },
  filters: {
    inStock: { value: 'true', keeps: ({ stock }) => stock !== null && Number(stock) > 0 },
    variant: { value: 'M,none', keeps: ({ productID }) => inSizes.has(productID) },
  },
  loadChildren: async (service, objects) => {
    const variants = objects
      .filter((_, at) => at % 3 === 0)
      .flatMap(({ productID }) =>
        ['M', 'L'].map((name) => ({ variantID: `${String(productID)}-${name}`, productID, name })),
      );
    for (const { productID } of variants) inSizes.add(productID);
    await service.load('variants', variants);
  },
  fields: [
    'productID',
    'refID',
    'type',
    'name',
    'description',
    'brandID',
    'categoryID',
    'price',
    'currency',
    'stock',
    'colours',
    'imageURL',
    'createdAt',
    'updatedAt',
  ],
  sorts: ['productID', 'name', 'price', 'createdAt', 'updatedAt'],
});

describe('GET /products', () => {
  const service = sharedService();

  async function identifiers(query: string): Promise<string[]> {
    const { body } = await service.get(`/products?${query}`).expect(200);
    return body.response_data.objects.map((row: { productID: string }) => row.productID);
  }

  it('writes every type as the contract has it', async () => {
    await service.load('products', [
      {
        productID: 'a',
        type: 'DIGITAL',
        name: 'Zoë\u0001 "x" \\ \u2028 😀\n',
        price: '19.90',
        currency: 'EUR',
        stock: -3,
        createdAt: '2026-01-02T03:04:05.1+02:00',
      },
    ]);
    const { text } = await service.get('/products?productID=a').expect(200);
    const [{ updatedAt }] = JSON.parse(text).response_data.objects;
    expect(updatedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const object = {
      productID: 'a',
      refID: null,
      type: 'DIGITAL',
      name: 'Zoë\u0001 "x" \\ \u2028 😀\n',
      description: null,
      brandID: null,
      categoryID: null,
      price: '19.90',
      currency: 'EUR',
      stock: -3,
      colours: null,
      imageURL: null,
      createdAt: '2026-01-02T01:04:05.100Z',
      updatedAt,
    };
    expect(text).toBe(
      JSON.stringify({
        result: { status: 'OK', errcode: '0', msg: '' },
        response_data: { count: '1', objects: [object] },
      }),
    );
  });

  it('filters by updatedSince, in any zone and to the millisecond', async () => {
    await service.load('products', [{ productID: 'early', type: 'SERVICE' }]);
    // The two times must differ by a millisecond.
    await sleep(5);
    await service.load('products', [{ productID: 'late', type: 'SERVICE' }]);
    const { body } = await service.get('/products/late').expect(200);
    const time = body.response_data.objects[0].updatedAt as string;
    expect(await identifiers(`updatedSince=${time}`)).toEqual(['late']);
    const local = new Date(Date.parse(time) + 5.5 * 3_600_000).toISOString().slice(0, -1);
    expect(await identifiers(`updatedSince=${local}%2B05:30`)).toEqual(['late']);
    expect(await identifiers(`updatedSince=${time.slice(0, -1)}0001Z`)).toEqual([]);
  });

  it.each([
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:00%2B24:00',
    '2026-01-01T00:00:00+02:00',
    '1767225600',
    '',
    '%FF',
  ])('refuses updatedSince=%s', async (value) => {
    const { body } = await service.get(`/products?updatedSince=${value}`).expect(400);
    expect(body.result.errcode).toBe('-22');
    expect(body.result.msg).toMatch(/^The parameter updatedSince must be an RFC 3339 time/);
  });

  it('lets inStock=false leave the products that have none, not those that keep no stock', async () => {
    await service.load('products', [
      { productID: 'none', type: 'PHYSICAL', stock: 0 },
      { productID: 'some', type: 'PHYSICAL', stock: 1 },
      { productID: 'untracked', type: 'PHYSICAL' },
    ]);
    expect(await identifiers('inStock=false&productID=none,some,untracked')).toEqual(['none']);
  });

  it('has inStock follow the stock, whatever a writer says', async () => {
    await service.load('products', [{ productID: 'kept', type: 'PHYSICAL', stock: 0 }]);
    const write = (change: string) =>
      service.dataSource.query(`UPDATE products SET ${change} WHERE "productID" = 'kept'`);
    await write('"inStock" = true');
    expect(await identifiers('inStock=true&productID=kept')).toEqual([]);
    await write('stock = 1');
    expect(await identifiers('inStock=true&productID=kept')).toEqual(['kept']);
    await write('"inStock" = false');
    expect(await identifiers('inStock=true&productID=kept')).toEqual(['kept']);
  });

  it('finds each word of a name, however it is joined to others', async () => {
    await service.load('products', [
      {
        productID: 'joined',
        type: 'PHYSICAL',
        name: 'wool/cotton, grit 3000/8000, 3-4, +49, L/XL',
      },
      {
        productID: 'more',
        type: 'PHYSICAL',
        name: "foo.example.com v1.2 44–52 cm, chef's nai\u0308ve",
      },
    ]);
    for (const word of ['wool', 'COTTON', '3000', '8000', '3', '4', '-4', '49', 'xl', 'l/xl']) {
      expect(await identifiers(`q=${encodeURIComponent(word)}`)).toEqual(['joined']);
    }
    for (const word of ['foo', 'example.com', 'v1', '44', '52', "chef's", 'chef', 'na\u00efve']) {
      expect(await identifiers(`q=${encodeURIComponent(word)}`)).toEqual(['more']);
    }
    for (const word of ['wool | foo', 'woo', 'wool & foo', '!foo', '"wool foo"']) {
      const found = await identifiers(`q=${encodeURIComponent(word)}`);
      expect(found).toEqual(word === '!foo' ? ['more'] : []);
    }
  });

  it('filters by currencies in their form alone, in the order of any sort', async () => {
    await service.load('products', [
      { productID: 'e1', type: 'PHYSICAL', refID: 'c', price: '5', currency: 'EUR' },
      { productID: 'e2', type: 'PHYSICAL', refID: 'c', price: '3', currency: 'EUR' },
      { productID: 'e3', type: 'PHYSICAL', refID: 'c', currency: 'EUR' },
      { productID: 'j1', type: 'PHYSICAL', refID: 'c', price: '500', currency: 'JPY' },
      { productID: 'n1', type: 'PHYSICAL', refID: 'c' },
    ]);
    expect(await identifiers('refID=c&currency=EUR&sort=-price')).toEqual(['e1', 'e2', 'e3']);
    expect(await identifiers('refID=c&currency=EUR,JPY&priceMin=4')).toEqual(['e1', 'j1']);
    expect(await identifiers('refID=c&currency=XXX')).toEqual([]);
    for (const value of ['eur', 'EURO', 'EU', 'EUR,', 'EUR, USD', 'EUR%0A']) {
      const { body } = await service.get(`/products?currency=${value}`).expect(400);
      expect(body).toEqual(
        refusal(
          -22,
          'The parameter currency must be currency codes of ISO 4217 in capital letters, such as EUR, separated by commas',
        ),
      );
    }
  });

  it('has no products of types that are all excluded', async () => {
    for (const more of ['', '&sort=-price&offset=1', '&offset=2', '&brandIDNot=b']) {
      const path = `/products?typeNot=DIGITAL,PHYSICAL,SERVICE${more}`;
      const { body } = await service.get(path).expect(200);
      expect(body.response_data).toEqual({ count: '0', objects: [] });
    }
  });

  it('takes the first and the last moments that RFC 3339 can write', async () => {
    const all = await identifiers('');
    for (const time of ['0000-01-01T00:00:00%2B23:59', '0000-02-29T00:00:00Z']) {
      expect(await identifiers(`updatedSince=${time}`)).toEqual(all);
      expect(await identifiers(`updatedUntil=${time}`)).toEqual([]);
    }
    for (const time of [
      '9999-12-31T23:59:59.999999999Z',
      '9999-12-31T23:59:59-14:00',
      '2016-12-31T23:59:60Z',
    ]) {
      await identifiers(`updatedSince=${time}`);
    }
  });

  it('finds nothing between a minimum and a lower maximum', async () => {
    for (const more of ['', '&type=PHYSICAL', '&sort=-price&offset=1']) {
      const path = `/products?priceMin=11&priceMax=6${more}`;
      const { body } = await service.get(path).expect(200);
      expect(body.response_data).toEqual({ count: '0', objects: [] });
    }
  });
});
