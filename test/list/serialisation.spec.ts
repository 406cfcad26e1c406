import { beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fieldsOf } from '#server/resource/resource.js';
import { Product, ProductType } from '../../src/products/product.entity.js';
import { SEED } from '#server/testing/random.js';
import { sharedService } from '../service.js';

const service = sharedService();

beforeAll(async () => {
  await service.load('brands', [{ brandID: 'b', name: 'B' }]);
  await service.load('categories', [{ categoryID: 'c', name: 'C' }]);
});

/** Text that PostgreSQL can store, with many characters that JSON must escape. */
const text = (maximum: number) =>
  fc
    .string({
      unit: fc.oneof(
        fc.constantFrom('"', '\\', '/', '\b', '\f', '\n', '\r', '\t', '\u001f', '\u007f', '\u2028'),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
      minLength: 1,
      maxLength: 40,
    })
    .map((value) =>
      Array.from(value.replaceAll('\0', '').toWellFormed()).slice(0, maximum).join(''),
    )
    .filter((value) => value !== '');
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

const product = fc.record({
  productID: text(100),
  refID: orNull(text(100)),
  type: fc.constantFrom(...Object.values(ProductType)),
  name: orNull(text(500)),
  description: orNull(text(500)),
  brandID: orNull(fc.constant('b')),
  categoryID: orNull(fc.constant('c')),
  price: orNull(fc.constantFrom('0', '0.00', '19.99', '5', '5.0', '5.1000', '999999999999999')),
  currency: fc.constant('EUR'),
  stock: orNull(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  imageURL: orNull(text(200)),
  createdAt: fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  }),
});

it('The text that PostgreSQL makes is the one that the entities would serialise to', async () => {
  const { dataSource } = service;
  const products = dataSource.getRepository(Product);
  const names = fieldsOf(products.metadata).map(({ propertyName }) => propertyName);
  const rows = fc.uniqueArray(product, { selector: ({ productID }) => productID, minLength: 20 });
  await fc.assert(
    fc.asyncProperty(rows, fc.subarray(names, { minLength: 1 }), async (objects, fields) => {
      await dataSource.query('TRUNCATE products CASCADE');
      await products.insert(objects);
      const entities = await products.find({ order: { productID: 'ASC' } });
      const expected = JSON.stringify(entities, fields);
      for (const query of [
        `fields=${fields.join()}`,
        `fields=${fields.join()}&sort=productID,name`,
      ]) {
        const response = await service.get(`/products?limit=1000&${query}`).expect(200);
        expect(response.text).toBe(
          `{"result":{"status":"OK","errcode":"0","msg":""},"response_data":{"count":"${objects.length}","objects":${expected}}}`,
        );
      }
      const listed = await service.get(`/products?limit=1000&sort=-name&fields=productID`);
      expect(listed.body.response_data.objects).toHaveLength(objects.length);
    }),
    { numRuns: 25, seed: SEED },
  );
});
