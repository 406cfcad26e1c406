import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Agent, request } from 'node:http';
import { ProductType } from '../../src/products/product.entity.js';
import { SEED } from '#server/testing/random.js';
import { type Service, startService } from '../service.js';

let service: Service;
const agent = new Agent({ keepAlive: true, maxSockets: 4 });

beforeAll(async () => {
  service = await startService();
  await service.load(
    'products',
    Array.from({ length: 30 }, (_, at) => ({
      productID: `p${at}`,
      type: Object.values(ProductType)[at % 3],
      name: `Name ${at % 5}`,
      price: at % 2 ? String(at) : null,
      currency: 'EUR',
    })),
  );
});
afterAll(async () => {
  agent.destroy();
  await service.stop();
});

const NAMES = [
  'facets',
  'facetStarts',
  'bounds',
  'fields',
  'include',
  'limit',
  'offset',
  'after',
  'sort',
  'productID',
  'refID',
  'type',
  'brandID',
  'categoryID',
  'within',
  'q',
  'priceMin',
  'priceMax',
  'inStock',
  'stockMin',
  'currency',
  'typeNot',
  'brandIDNot',
  'brandIDExists',
  'coloursNot',
  'coloursExists',
  'priceExists',
  'createdSince',
  'updatedSince',
  'updatedUntil',
];
const VALUES = [
  '',
  '0',
  '5',
  '1000',
  '99999999999999999999',
  '-1',
  '1e3',
  '19.99',
  '.5',
  'true',
  'PHYSICAL',
  'PHYSICAL,DIGITAL',
  'EUR',
  'p1,p2',
  'name',
  '-price',
  'productID,name',
  '2026-01-01T00:00:00Z',
  'name & name | (',
  "'; DROP TABLE products; --",
  'NaN',
  '%',
  '\0',
];

const PAIRS = [
  'limit=7',
  'limit=1001',
  'offset=3',
  'offset=99999999999999999999',
  'fields=productID,%20name',
  'fields=nonsense',
  'sort=-price,name',
  'facets=type,%20inStock',
  'facets=price',
  'facets=within',
  'bounds=1,2.5,9',
  'q=name%204',
  'q=100%',
];

/** One part of a query string: valid, mistyped or random. */
const name = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
);
const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
);
const part = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(...PAIRS) },
  {
    weight: 20,
    arbitrary: fc
      .tuple(name, value)
      .map(([key, text]) => `${encodeURIComponent(key)}=${encodeURIComponent(text)}`),
  },
  { weight: 1, arbitrary: fc.stringMatching(/^[!-"$-~]{0,12}$/) },
  { weight: 1, arbitrary: fc.stringMatching(/^(%[0-9A-F]{2}){1,6}=?(%[0-9A-F]{2}){0,6}$/) },
);
const targets = fc
  .tuple(fc.constantFrom('/products', '/facets/products'), fc.array(part, { maxLength: 6 }))
  .map(([path, parts]) => `${path}?${parts.join('&')}`);

it('Thousands of queries never see a 5xx, nor a body without the envelope', async () => {
  const counts = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(targets, async (target) => {
      const { status, body } = await get(target);
      const { result, response_data: data, ...rest } = JSON.parse(body);
      expect(rest).toEqual({});
      expect(Object.keys(result)).toEqual(['status', 'errcode', 'msg']);
      if (status === 200) {
        expect(result).toEqual({ status: 'OK', errcode: '0', msg: '' });
        expect(data.count).toMatch(/^[0-9]+$/);
        expect(data.objects.length).toBeLessThanOrEqual(Number(data.count));
      } else {
        // There is no object behind which `after` could begin.
        expect(status).toBe(result.errcode === '-31' ? 404 : 400);
        expect(result.status).toBe('ERROR');
        expect(result.errcode).toMatch(/^-(20|22|23|24|25|26|31)$/);
        expect(result.msg).not.toBe('');
        expect(data).toBeUndefined();
      }
      counts.set(result.errcode, (counts.get(result.errcode) ?? 0) + 1);
    }),
    { numRuns: 3000, seed: SEED },
  );
  // The queries must provoke every error, or the test would prove little.
  for (const errcode of ['0', '-20', '-22', '-23', '-24', '-25', '-26']) {
    expect(counts.get(errcode) ?? 0).toBeGreaterThan(5);
  }
});

/** Sends a GET without encoding its target. */
function get(path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const { headers } = service;
    request({ host: '127.0.0.1', port: service.port, path, headers, agent }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body });
      });
    })
      .on('error', reject)
      .end();
  });
}
