import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { naturalKey } from '#server/testing/natural-key.js';
import { queryOn } from '#server/testing/database.js';
import { type CatalogueOptions, CatalogueConnectionError, CatalogueError } from '@catalogue/client';
import { RETRIED } from '../../packages/client/src/retry.js';
import { ClientCache } from '#server/clients/client-cache.js';
import { type ApiError, errors } from '#server/http/errors.js';
import { NON_FILTERS } from '#server/list/condition/filters.js';
import { FACET_PARAMETERS } from '#server/list/facets/facets-query.dto.js';
import { Gate } from '../faults/gate.js';
import { sharedService, whileOverloaded } from '../service.js';
import { eventually, until } from '../until.js';
import { advanceWatermark } from '../watermark.js';
import { answering } from './answering.js';
import type { Brand, Catalogue } from './catalogue.js';
import { clientOf } from './client-of.js';

const BRANDS = Array.from({ length: 45 }, (_, at) => `b${at + 100}`);

// Fewer than a page of an iteration has by default.
const service = sharedService({ MAX_LIMIT: '60' });
/** What each request of `recording` was, and the status of its response. */
let requests: { url: URL; status: number }[];

beforeAll(async () => {
  // In the first seconds of a database no list has an X-Updated-Until.
  await advanceWatermark(service.dataSource, 2);
  await service.load(
    'brands',
    BRANDS.map((brandID, at) => ({ brandID, name: `Brand ${at % 10}` })),
  );
  await service.load('categories', [
    { categoryID: 'c1', name: 'C' },
    { categoryID: 'c/2?', name: 'D', parentID: 'c1' },
  ]);
  await service.load('products', [
    {
      productID: 'p1',
      type: 'PHYSICAL',
      name: 'A',
      price: '1.50',
      currency: 'EUR',
      brandID: 'b100',
    },
    { productID: 'p2', type: 'DIGITAL' },
    { productID: 'p3', type: 'SERVICE' },
  ]);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** A client whose requests are recorded. */
function recording(options: Partial<CatalogueOptions> = {}) {
  requests = [];
  return clientOf(service, {
    fetch: async (...args) => {
      const response = await fetch(...args);
      requests.push({ url: new URL(response.url), status: response.status });
      return response;
    },
    ...options,
  });
}

async function all<T>(objects: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const object of objects) found.push(object);
  return found;
}

/** The error of a promise that must reject. */
async function failure(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail');
}

describe('A list of the client', () => {
  it('is a page with its count and the URLs of other pages', async () => {
    const catalogue = clientOf(service);
    const page = await catalogue.products.list({ type: ['PHYSICAL', 'DIGITAL'], limit: 1 });
    expect(page.count).toBe(2);
    expect(page.objects.map(({ productID, price }) => [productID, price])).toEqual([
      ['p1', '1.50'],
    ]);
    const url = `http://127.0.0.1:${service.port}/products?type=PHYSICAL%2CDIGITAL&limit=1`;
    expect(page.links).toEqual({
      next: `${url}&offset=1`,
      after: `${url}&after=p1`,
      last: `${url}&offset=1`,
    });
    expect(Date.parse(page.updatedUntil ?? '')).toBeGreaterThan(0);
  });

  it('sends one request when it is waited for, however often, and none before', async () => {
    const catalogue = recording();
    const list = catalogue.brands.list({ limit: 1 });
    await sleep(20);
    expect(requests).toEqual([]);
    expect(await list).toBe(await list);
    expect(await list.finally(() => undefined)).toBe(await list.catch(() => undefined));
    expect(requests.length).toBe(1);
  });

  it('refuses an empty array of a filter, which matches nothing, and sends no request', async () => {
    const { brands, products } = recording();
    const message = 'brandID: [] is empty; leave it out to filter by nothing';
    const query = { brandID: [] };
    for (const attempt of [
      () => products.list(query),
      () => products.stream(query),
      () => products.facets(query),
      () => all(products.list(query)),
      () => all(brands.list(query)),
    ]) {
      await expect(attempt()).rejects.toThrow(new TypeError(message));
    }
    expect(requests).toEqual([]);
  });

  it('and a single object have the same related objects', async () => {
    const { products } = clientOf(service);
    const query = { fields: ['productID', 'brand.name'], include: ['category'] } as const;
    const { objects } = await products.list({ productID: ['p1'], ...query });
    expect(objects).toEqual([{ productID: 'p1', brand: { name: 'Brand 0' }, category: null }]);
    expect(await products.get('p1', query)).toEqual(objects[0]);
  });

  it('gives all objects in its order, by key', async () => {
    const catalogue = recording();
    const found = await all(catalogue.brands.list({ sort: ['-name'], limit: 7 }));
    const brands = await service.dataSource.query<Brand[]>('SELECT "brandID", name FROM brands');
    const place = ({ name, brandID }: Brand) => `${naturalKey(name)}\0${brandID}`;
    const sorted = brands.sort((one, other) => (place(one) < place(other) ? 1 : -1));
    expect(found.map(({ brandID }) => brandID)).toEqual(sorted.map(({ brandID }) => brandID));
    expect(requests.length).toBe(7);
    expect(requests.map(({ url }) => url.searchParams.get('after'))).toEqual([
      null,
      ...[6, 13, 20, 27, 34, 41].map((at) => sorted[at]?.brandID),
    ]);
  });

  describe('of a service that refuses pages of 1,000', () => {
    const more = Array.from({ length: 60 }, (_, at) => `c${at + 100}`);
    beforeAll(() =>
      service.load(
        'brands',
        more.map((brandID) => ({ brandID, name: 'C' })),
      ),
    );
    afterAll(() => service.dataSource.query(`DELETE FROM brands WHERE "brandID" LIKE 'c%'`));

    it('gives all objects in pages of the default size, from an offset', async () => {
      const catalogue = recording();
      const found = await all(catalogue.brands.list({ offset: 3 }));
      expect(found.map(({ brandID }) => brandID)).toEqual([...BRANDS, ...more].slice(3));
      expect(requests.map(({ status }) => status)).toEqual([400, 200, 200, 200]);
      expect(requests.map(({ url }) => url.searchParams.get('limit'))).toEqual([
        '1000',
        null,
        '50',
        '50',
      ]);
    });

    it('sends the refused request once for all iterations', async () => {
      const catalogue = recording();
      await all(catalogue.categories.list());
      requests.length = 0;
      expect((await all(catalogue.brands.list())).length).toBe(105);
      expect(requests.map(({ status }) => status)).toEqual([200, 200, 200]);
    });

    it('does not take another number that is out of range for that', async () => {
      const catalogue = recording();
      expect(await failure(all(catalogue.brands.list({ offset: 2 ** 53 })))).toMatchObject({
        errcode: '-26',
      });
      await all(catalogue.categories.list());
      expect(requests.map(({ url }) => url.searchParams.get('limit')).slice(0, 4)).toEqual([
        '1000',
        null,
        '1000',
        null,
      ]);
    });
  });

  it('gives exactly the fields asked for, though it needs the identifier', async () => {
    const found = await all(clientOf(service).brands.list({ fields: ['name'], limit: 20 }));
    expect(found.length).toBe(45);
    expect(found.slice(0, 2)).toEqual([{ name: 'Brand 0' }, { name: 'Brand 1' }]);
  });

  it('has the URLs of other pages below the path that the service is served at', async () => {
    const url = `http://127.0.0.1:${service.port}/shop/api`;
    const proxy: typeof fetch = (input, init) => {
      const address = input instanceof Request ? input.url : String(input);
      return fetch(address.replace('/shop/api/', '/'), init);
    };
    const { links } = await clientOf(service, { url, fetch: proxy }).brands.list({ limit: 1 });
    expect(links.next).toBe(`${url}/brands?limit=1&offset=1`);
  });

  it.each([1, 2, 5])(
    'goes on when the last %i objects that it gave have been deleted',
    async (deleted) => {
      const found: string[] = [];
      const gone = BRANDS.slice(10 - deleted, 10);
      for await (const { brandID } of clientOf(service).brands.list({ limit: 10 })) {
        found.push(brandID);
        if (found.length !== 10) continue;
        await service.dataSource.query('DELETE FROM brands WHERE "brandID" = ANY ($1)', [gone]);
      }
      await service.load(
        'brands',
        gone.map((brandID) => ({
          brandID,
          name: `Brand ${(Number(brandID.slice(1)) - 100) % 10}`,
        })),
      );
      expect(found).toEqual(BRANDS);
    },
  );

  it('fails when all objects of its last page have been deleted', async () => {
    const catalogue = clientOf(service);
    await service.load('brands', [{ brandID: 'a1', name: 'A' }]);
    const iterator = catalogue.brands.list({ limit: 1 })[Symbol.asyncIterator]();
    await iterator.next();
    await service.dataSource.query(`DELETE FROM brands WHERE "brandID" = 'a1'`);
    expect(await failure(iterator.next())).toMatchObject({ errcode: '-31' });
  });
});

describe('A parameter of the client', () => {
  /** The query string of a list of products, and the status of its response. */
  async function sent(query: object): Promise<unknown[]> {
    // No price is negative: the service refuses such a number.
    await recording()
      .products.list(query)
      .catch(() => undefined);
    return requests.flatMap(({ url, status }) => [url.search, status]);
  }

  it('is not sent if it is undefined, or an empty array of names', async () => {
    const query = { type: undefined, priceMin: undefined, sort: [], include: [] };
    expect(await sent(query)).toEqual(['', 200]);
    const catalogue = clientOf(service);
    expect((await catalogue.products.list(query)).count).toBe(3);
    expect((await all(catalogue.products.list({ ...query, fields: [] }))).length).toBe(3);
    expect((await all(catalogue.products.stream(query))).length).toBe(3);
    expect((await catalogue.products.facets({ brandID: undefined, facets: ['type'] })).count).toBe(
      3,
    );
  });

  it('may be an empty array unless it is a filter', async () => {
    const { body } = await service.anonymous().get('/openapi.json').expect(200);
    const { products } = clientOf(service);
    for (const [path, ask] of [
      ['/products', (query: object) => products.list(query)],
      ['/facets/products', (query: object) => products.facets(query)],
    ] as const) {
      for (const { name, schema } of body.paths[path].get.parameters) {
        if (schema?.type !== 'array') continue;
        const isFilter = !NON_FILTERS.has(name) && !FACET_PARAMETERS.includes(name);
        const error = await ask({ [name]: [] }).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect([name, error instanceof TypeError]).toEqual([name, isFilter]);
      }
    }
  });

  it('has double quotes around one of several values that needs them', async () => {
    const brandID = ['b100,b101', '"b"', 'b"', 'b100'];
    expect(await sent({ brandID })).toEqual([
      `?${new URLSearchParams({ brandID: '"b100,b101","""b""",b",b100' }).toString()}`,
      200,
    ]);
  });

  it('is a time as RFC 3339 in UTC if it is a Date', async () => {
    const createdSince = new Date('2026-11-21T13:00:00.05+01:00');
    expect(await sent({ createdSince })).toEqual([
      '?createdSince=2026-11-21T12%3A00%3A00.050Z',
      200,
    ]);
  });

  it.each([
    [20, '20', 200],
    [-0, '0', 200],
    [19.99, '19.99', 200],
    [1e21, '1000000000000000000000', 200],
    [1.25e22, '12500000000000000000000', 200],
    [1e-7, '0.0000001', 200],
    [1.25e-9, '0.00000000125', 200],
    [-1.25e-9, '-0.00000000125', 400],
  ])('is the plain decimal of the number %d', async (priceMin, text, status) => {
    expect(await sent({ priceMin })).toEqual([`?priceMin=${text}`, status]);
  });

  it.each([
    [{ priceMin: NaN }, 'priceMin: NaN has no text'],
    [{ priceMax: -Infinity }, 'priceMax: -Infinity has no text'],
    [{ limit: Infinity }, 'limit: Infinity has no text'],
    [{ brandID: [null as never] }, 'brandID: null has no text'],
    // eslint-disable-next-line no-sparse-arrays -- what is refused
    [{ brandID: [, 'a'] as string[] }, 'brandID: undefined has no text'],
    [{ createdSince: new Date('soon') }, 'createdSince: Invalid Date has no text'],
  ])('is refused before a request if it has no text: %j', async (query, message) => {
    const { products } = recording();
    for (const call of [products.list(query), products.stream(query), products.facets(query)]) {
      expect(await failure(call)).toEqual(new TypeError(message));
    }
    expect(requests).toEqual([]);
  });
});

describe('A public client without a token', () => {
  it('is named in the URL alone, so that no browser asks before and caches may keep the answers', async () => {
    await service.newClient('shop', { isPublic: true });
    const sent: Headers[] = [];
    const controls: (string | null)[] = [];
    const { products } = clientOf(service, {
      clientID: 'shop',
      accessToken: undefined,
      fetch: async (url, init) => {
        sent.push(new Headers(init?.headers));
        const response = await fetch(url, init);
        expect(new URL(response.url).searchParams.get('clientID')).toBe('shop');
        controls.push(response.headers.get('Cache-Control'));
        return response;
      },
    });
    const { objects } = await products.list({ limit: 1 });
    expect(await products.get(objects[0]?.productID ?? '')).toEqual(objects[0]);
    await products.facets();
    expect(sent.flatMap((headers) => [...headers])).toEqual([]);
    expect(controls).toEqual(Array(3).fill(expect.stringMatching(/^public, /)));
  });
});

describe('The token of the client', () => {
  const accessToken = 'a-token-that-nobody-may-see';

  it('is in nothing that prints the client, its lists or its errors', async () => {
    const seen = (value: unknown) => [
      JSON.stringify(value),
      inspect(value, { depth: Infinity, showHidden: true, getters: true }),
      String(value),
    ];
    const catalogue = clientOf(service, { accessToken, maxRetries: 0, cache: 1 });
    const refused = await failure(catalogue.products.list());
    expect(refused).toMatchObject({ errcode: '-11' });
    const url = 'http://127.0.0.1:1';
    const nowhere = clientOf(service, { accessToken, url, maxRetries: 0 });
    const unreached = await failure(nowhere.products.stream());
    expect(unreached).toMatchObject({ cause: expect.objectContaining({ name: 'TypeError' }) });
    const printed = [catalogue, catalogue.products, catalogue.brands.list(), refused, unreached];
    for (const text of printed.flatMap(seen)) expect(text).not.toContain(accessToken);
  });

  it('is in no error if no header can carry it', () => {
    const make = () => clientOf(service, { accessToken: `${accessToken}\n${accessToken}` });
    expect(make).toThrow(new TypeError('clientID or accessToken cannot be in a header'));
  });
});

describe('An option of the client', () => {
  it.each([0, -1, NaN])('is refused if it is the timeout %d', (timeout) => {
    expect(() => clientOf(service, { timeout })).toThrow(
      new TypeError(`timeout: ${timeout} is not above 0`),
    );
  });

  it.each([
    'not a url',
    '/catalogue',
    'localhost:3000',
    'https://user:secret@',
    'https://user:secret@example.com',
    new URL('https://user@example.com'),
  ])('is refused if it is the url %s, without repeating it', (url) => {
    const message = 'url must be of http, without @';
    expect(() => clientOf(service, { url })).toThrow(new TypeError(message));
  });

  it('may be no timeout', async () => {
    expect(await clientOf(service, { timeout: Infinity }).brands.get('b100')).toBeDefined();
  });
});

describe('The other paths of the client', () => {
  it.each([
    ['', "brandID: '' cannot be in a path"],
    ['.', "brandID: '.' cannot be in a path"],
    ['..', "brandID: '..' cannot be in a path"],
    [undefined, 'brandID: undefined has no text'],
    [null, 'brandID: null has no text'],
  ] as [never, string][])(
    'refuses the identifier %j, which is another path, and sends no request',
    async (id, message) => {
      const { brands } = recording();
      await expect(brands.get(id)).rejects.toThrow(new TypeError(message));
      expect(requests).toEqual([]);
    },
  );

  it('give one object', async () => {
    const catalogue = clientOf(service);
    expect(await catalogue.categories.get('c/2?', { fields: ['name', 'parentID'] })).toEqual({
      parentID: 'c1',
      name: 'D',
    });
  });

  it('give the counts of facets as numbers', async () => {
    const facets = await clientOf(service).products.facets({ facets: ['type'], limit: 2 });
    expect(facets).toEqual({
      count: 3,
      objects: [
        { field: 'type', value: 'DIGITAL', label: null, count: 1 },
        { field: 'type', value: 'PHYSICAL', label: null, count: 1 },
      ],
    });
  });
});

describe('A stream of the client', () => {
  it('gives the whole list, with its count', async () => {
    const catalogue = recording();
    const list = await catalogue.brands.stream({ fields: ['brandID'] });
    expect(list.count).toBe(45);
    expect(Date.parse(list.updatedUntil ?? '')).toBeGreaterThan(0);
    expect(await all(list)).toEqual(BRANDS.map((brandID) => ({ brandID })));
    expect(requests.length).toBe(1);
  });

  it('sends one request, be it waited for or iterated, and is iterated once', async () => {
    const catalogue = recording();
    const stream = catalogue.brands.stream({ fields: ['brandID'] });
    await sleep(20);
    expect(requests).toEqual([]);
    expect((await stream).count).toBe(45);
    expect((await all(stream)).length).toBe(45);
    const error = new TypeError('A stream can be iterated only once');
    expect(await failure(all(stream))).toEqual(error);
    expect(await failure(all(await stream))).toEqual(error);
    expect(requests.length).toBe(1);
  });

  it('is closed when it turns out to be none', async () => {
    let closed: Promise<unknown> | undefined;
    const outcome = await answering(
      (request, response) => {
        closed = once(request.socket, 'close');
        response.write('{"brandID":"a"}\n');
      },
      async (url) => {
        const error = await failure(clientOf(service, { url, maxRetries: 0 }).brands.stream());
        expect(error).toBeInstanceOf(CatalogueConnectionError);
        return Promise.race([closed, sleep(2000, 'open')]);
      },
    );
    expect(outcome).not.toBe('open');
  });

  it.each([
    [{ limit: 3, offset: 44 }, BRANDS.slice(44)],
    [{ limit: 0 }, []],
    [{ after: 'b142' }, BRANDS.slice(43)],
    [{ name: 'none' }, []],
  ])('gives the part of the list that it names: %j', async (query, expected) => {
    const found = await all(clientOf(service).brands.stream(query));
    expect(found.map(({ brandID }) => brandID)).toEqual(expected);
  });

  describe('that is larger than what buffers hold', () => {
    /** Writes without the time limits of the service. */
    const write = (statement: string) => queryOn(service.database.url, statement);

    beforeAll(() =>
      // Text that hardly can be compressed.
      write(
        `INSERT INTO brands ("brandID", name)
         SELECT 'z' || n, (SELECT string_agg(md5(n * 12.0 + i || ''), '') FROM generate_series(1, 12) i)
         FROM generate_series(1, 40000) n`,
      ),
    );
    afterAll(() => write(`DELETE FROM brands WHERE "brandID" LIKE 'z%'`));

    it('frees its place in the service when the reader stops', async () => {
      // The service may notice a moment later.
      const catalogue = clientOf(service, { maxRetries: 1 });
      for (let round = 0; round < 5; round += 1) {
        for await (const { brandID } of catalogue.brands.stream()) {
          expect(brandID).toBe('b100');
          break;
        }
      }
    });

    it('fails when the connection ends early', async () => {
      const gate = await Gate.before(`http://127.0.0.1:${service.port}`);
      let found = 0;
      const read = async () => {
        for await (const { brandID } of clientOf(service, { url: gate.url }).brands.stream()) {
          found += 1;
          if (brandID === BRANDS[10]) gate.cut();
        }
      };
      const error = await failure(read());
      await gate.shut();
      expect(error).toBeInstanceOf(CatalogueConnectionError);
      expect(error).toMatchObject({ message: 'The response ended early' });
      expect(found).toBeGreaterThan(10);
      expect(found).toBeLessThan(40_000);
    });
  });

  it.each([
    ['{"brandID":"a"}\n{"brandID":"b"}\n', 'The stream ended after 2 of 3 objects'],
    ['{"brandID":"a"}\n{"brandID":"b"}\n{"bra', 'A line of the stream is damaged'],
  ])('fails when the body ends early, as after a faulty proxy: %j', async (body, message) => {
    const error = await answering(
      (_, response) => response.setHeader('X-Total-Count', '3').end(body),
      (url) => failure(all(clientOf(service, { url }).brands.stream())),
    );
    expect(error).toEqual(new CatalogueConnectionError(message));
  });

  it('fails with the error of the parser as its cause when a line is damaged', async () => {
    const error = await answering(
      (_, response) => response.setHeader('X-Total-Count', '1').end('{"brandID":\n'),
      (url) => failure(all(clientOf(service, { url }).brands.stream())),
    );
    expect(error).toBeInstanceOf(CatalogueConnectionError);
    expect(error).toMatchObject({ cause: expect.objectContaining({ name: 'SyntaxError' }) });
  });

  it('reads characters and lines that are divided among chunks', async () => {
    const body = Buffer.from('{"name":"Å"}\n{"name":"ž"}\n');
    const found = await answering(
      (_, response) => {
        response.setHeader('X-Total-Count', '2');
        void (async () => {
          for (const byte of body) {
            response.write(Buffer.of(byte));
            await sleep(1);
          }
          response.end();
        })();
      },
      (url) => all(clientOf(service, { url }).brands.stream({ fields: ['name'] })),
    );
    expect(found).toEqual([{ name: 'Å' }, { name: 'ž' }]);
  });
});

describe('An error of the client', () => {
  it('has the errcode, the message, the status and the id of the request', async () => {
    const undefinedParameter = { colour: 'red' } as object;
    const error = await failure(recording().brands.list(undefinedParameter));
    expect(error).toBeInstanceOf(CatalogueError);
    expect(error).toMatchObject({
      name: 'CatalogueError',
      errcode: '-23',
      msg: 'The parameter colour must not be present in this request',
      message: 'The parameter colour must not be present in this request (-23)',
      status: 400,
      requestId: expect.stringMatching(/^[\w-]{20,}$/),
      retryAfter: undefined,
    });
    expect(requests.length).toBe(1);
    expect(await failure(all(recording().brands.stream(undefinedParameter)))).toMatchObject({
      errcode: '-23',
    });
    expect(await failure(recording().products.get('p0'))).toMatchObject({
      errcode: '-31',
      status: 404,
    });
  });

  it('is another one when nothing can be reached', async () => {
    const gate = await Gate.before(`http://127.0.0.1:${service.port}`);
    const { url } = gate;
    await gate.shut();
    const error = await failure(clientOf(service, { url, maxRetries: 0 }).brands.list());
    expect(error).toBeInstanceOf(CatalogueConnectionError);
    expect(error).toMatchObject({
      message: `The catalogue at ${url.replace(/\/$/, '')} cannot be reached`,
      cause: expect.objectContaining({ name: 'TypeError' }),
    });
  });

  it.each([
    [502, '<h1>Bad Gateway</h1>'],
    [200, '<h1>Sign in</h1>'],
    [200, '{"result":null}'],
    [200, '{"result":{"errcode":"0"}}'],
    [200, 'null'],
    [500, '{"result":null}'],
  ])('is such a one when something else answers %i %s', async (status, body) => {
    const errors = await answering(
      (_, response) => response.writeHead(status).end(body),
      async (url) => {
        const { brands } = clientOf(service, { url, maxRetries: 0 });
        return [await failure(brands.list()), await failure(brands.stream())];
      },
    );
    for (const error of errors) expect(error).toBeInstanceOf(CatalogueConnectionError);
  });
});

describe('A request of the client', () => {
  it('is sent again after the errors that have Retry-After, and no others', () => {
    const withRetryAfter = Object.values(errors).filter(
      (define) =>
        define.condition.includes('Retry-After') ||
        'Retry-After' in (define as () => ApiError)().headers,
    );
    expect(RETRIED).toEqual(withRetryAfter.map(({ errcode }) => String(errcode)));
  });

  it('is sent again when the service is busy, after as long as it says', async () => {
    const retried: unknown[] = [];
    const catalogue = recording({ onRetry: (error, pause) => retried.push([error, pause]) });
    let page: PromiseLike<{ count: number }> | undefined;
    const began = performance.now();
    await whileOverloaded(service, async () => {
      page = Promise.resolve(catalogue.products.list({ limit: 0 }));
      // Long enough for the first request to get an error response.
      await sleep(300);
    });
    expect((await page)?.count).toBe(3);
    expect(performance.now() - began).toBeGreaterThan(990);
    expect(retried).toMatchObject([[{ errcode: '-4', retryAfter: 1 }, 1000]]);
    expect(requests.map(({ status }) => status)).toEqual([503, 200]);
  });

  it('is sent again when the database comes back, and not more often than allowed', async () => {
    const catalogue = recording({ maxRetries: 1 });
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const find = jest.spyOn(service.application.get(ClientCache), 'find');
    const gone = Object.assign(new Error('of the database'), { code: 'ECONNREFUSED' });
    find.mockRejectedValueOnce(gone);
    expect((await catalogue.products.list({ limit: 0 })).count).toBe(3);
    expect(requests.map(({ status }) => status)).toEqual([503, 200]);
    find.mockRejectedValue(gone);
    expect(await failure(catalogue.products.list())).toMatchObject({ errcode: '-2' });
    expect(requests.map(({ status }) => status)).toEqual([503, 200, 503, 503]);
  });

  it('is not sent again when that would take too long', async () => {
    const catalogue = recording({ maxRetryTime: 900 });
    const error = await whileOverloaded(service, () => failure(catalogue.brands.list()));
    expect(error).toMatchObject({ errcode: '-4', status: 503, retryAfter: 1 });
    expect(requests.length).toBe(1);
  });

  it.each([
    ['-3', 503, '0', 2],
    ['-40', 429, '0', 2],
    ['-40', 429, 'Sun, 06 Nov 1994 08:49:37 GMT', 1],
    ['-4', 503, '-5', 1],
    ['-4', 503, '0x0', 1],
    ['-4', 503, '', 1],
    ['-40', 429, undefined, 1],
    ['-1', 500, '0', 1],
    ['-22', 400, '0', 1],
  ])(
    'with error %s, status %i and Retry-After: %s is sent %i times, with one retry allowed',
    async (errcode, status, retryAfter, times) => {
      let sent = 0;
      const error = await answering(
        (_, response) => {
          sent += 1;
          if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter);
          response.statusCode = status;
          response.end(JSON.stringify({ result: { status: 'ERROR', errcode, msg: 'No' } }));
        },
        (url) => failure(clientOf(service, { url, maxRetries: 1 }).brands.list()),
      );
      expect([error, sent]).toMatchObject([{ errcode, status }, times]);
    },
  );

  it('is not sent again after longer than a timer can take', async () => {
    let sent = 0;
    const error = await answering(
      (_, response) => {
        sent += 1;
        response.writeHead(503, { 'Retry-After': '3000000' });
        response.end(JSON.stringify({ result: { status: 'ERROR', errcode: '-4', msg: 'No' } }));
      },
      (url) => failure(clientOf(service, { url, maxRetryTime: Infinity }).brands.list()),
    );
    expect([error, sent]).toMatchObject([{ errcode: '-4', retryAfter: 3_000_000 }, 1]);
  });

  it('is sent again when the connection fails, after a pause that grows', async () => {
    const gate = await Gate.before(`http://127.0.0.1:${service.port}`);
    const { url } = gate;
    const pauses: number[] = [];
    await gate.shut();
    const catalogue = recording({
      url,
      onRetry: (error, pause) => {
        expect(error).toBeInstanceOf(CatalogueConnectionError);
        if (pauses.push(pause) === 2) void gate.open();
      },
    });
    expect((await all(catalogue.products.stream())).length).toBe(3);
    const [first = NaN, second = NaN] = pauses;
    expect([first >= 500, first <= 1000, second >= 1000, second <= 2000]).not.toContain(false);
    await gate.shut();
  });

  it('is sent again when its response ends early or is none of the service, and not without end', async () => {
    const page = JSON.stringify({ response_data: { count: '0', objects: [] } });
    const responses: RequestListener[] = [
      (request) => request.socket.resetAndDestroy(),
      (_, response) => {
        response.writeHead(200, { 'Content-Length': page.length }).write(page.slice(0, 20), () => {
          response.destroy();
        });
      },
      (_, response) => response.writeHead(502).end('<h1>Bad Gateway</h1>'),
      (_, response) => response.end(page),
    ];
    let sent = 0;
    const list = (maxRetries: number, maxRetryTime: number) => {
      sent = 0;
      return answering(
        (request, response) => responses[sent++]?.(request, response),
        async (url) => clientOf(service, { url, maxRetries, maxRetryTime }).brands.list(),
      );
    };
    expect((await list(3, 90_000)).count).toBe(0);
    expect(sent).toBe(4);
    expect(await failure(list(1, 90_000))).toMatchObject({ message: 'The response ended early' });
    expect(sent).toBe(2);
    expect(await failure(list(3, 400))).toBeInstanceOf(CatalogueConnectionError);
    expect(sent).toBe(1);
  });

  it('is sent again when nothing comes for as long as its time-out', async () => {
    const gate = await Gate.before(`http://127.0.0.1:${service.port}`);
    gate.silence();
    const errors: unknown[] = [];
    const catalogue = clientOf(service, {
      url: gate.url,
      timeout: 100,
      onRetry: (error) => {
        errors.push(error);
        gate.speak();
      },
    });
    // A busy machine may be silent for as long by itself.
    const page = await eventually(async () => catalogue.products.list());
    expect(page.count).toBe(3);
    expect(errors[0]).toEqual(
      new CatalogueConnectionError(
        `The catalogue at ${gate.url.slice(0, -1)} sent nothing for 100 ms`,
      ),
    );
    await gate.shut();
  });

  it('waits for 80 s by default, longer if told so, and again for each part of a list', async () => {
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'],
    });
    try {
      const read = (options: Partial<CatalogueOptions>) => {
        let send: (text: string) => void = () => undefined;
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            send = (text) => {
              controller.enqueue(new TextEncoder().encode(text));
            };
          },
        });
        const response = new Response(body, { headers: { 'X-Total-Count': '9' } });
        const { brands } = clientOf(service, {
          fetch: () => Promise.resolve(response),
          ...options,
        });
        const found: unknown[] = [];
        const reading = (async () => {
          for await (const brand of brands.stream()) found.push(brand);
        })();
        return { found, send, error: failure(reading) };
      };
      const stream = read({});
      const patient = read({ timeout: Infinity });
      for (let part = 1; part <= 3; part += 1) {
        await jest.advanceTimersByTimeAsync(79_000);
        stream.send('{"brandID":"a"}\n');
        await until(() => stream.found.length === part);
      }
      await jest.advanceTimersByTimeAsync(81_000);
      expect(await stream.error).toMatchObject({
        name: 'CatalogueConnectionError',
        message: expect.stringMatching(/sent nothing for 80000 ms$/),
      });
      await jest.advanceTimersByTimeAsync(3_600_000);
      patient.send('{"brandID":"a"}\n');
      await until(() => patient.found.length === 1);
    } finally {
      jest.useRealTimers();
    }
  });

  it('can be aborted before it, during it, and while it waits to be sent again', async () => {
    const reason = new Error('Enough');
    const catalogue = clientOf(service);
    const aborted = AbortSignal.abort(reason);
    expect(await failure(catalogue.brands.list({}, { signal: aborted }))).toBe(reason);
    expect(await failure(clientOf(service, { signal: aborted }).brands.get('b100'))).toBe(reason);

    const during = new AbortController();
    let sent = 0;
    const silent = await answering(
      () => {
        sent += 1;
        during.abort(reason);
      },
      (url) => {
        const call = { signal: during.signal };
        const own = new AbortController();
        return failure(clientOf(service, { url, signal: own.signal }).products.facets({}, call));
      },
    );
    expect([silent, sent]).toEqual([reason, 1]);

    const began = performance.now();
    const { signal } = new AbortController();
    const waiting = await whileOverloaded(service, () => {
      const retrying = new AbortController();
      const client = clientOf(service, {
        signal: retrying.signal,
        onRetry: () => {
          setTimeout(() => {
            retrying.abort(reason);
          }, 50);
        },
      });
      return failure(client.brands.list({}, { signal }));
    });
    expect(waiting).toBe(reason);
    expect(performance.now() - began).toBeLessThan(900);
  });

  it.each(['list', 'stream'] as const)('ends a %s when it is aborted', async (kind) => {
    const controller = new AbortController();
    const reason = new Error('Enough');
    let found = 0;
    const read = async () => {
      const call = { signal: controller.signal };
      for await (const { brandID } of clientOf(service).brands[kind]({ limit: 20 }, call)) {
        found += 1;
        if (brandID === BRANDS[9]) controller.abort(reason);
      }
    };
    const error = await failure(read());
    expect([error, found]).toEqual([reason, 10]);
  });

  it.each(['list', 'stream'] as const)(
    'ends a %s when it is aborted while a read of the body never settles',
    async (kind) => {
      const reason = new Error('Enough');
      for (const from of ['client', 'call'] as const) {
        const controller = new AbortController();
        const { signal } = controller;
        const stalled = clientOf(service, {
          ...(from === 'client' && { signal }),
          // As fetch of Node.js 20 may do after an abort.
          fetch: () => {
            setTimeout(() => {
              controller.abort(reason);
            }, 20);
            const headers = { 'X-Total-Count': '1' };
            return Promise.resolve(new Response(new ReadableStream(), { headers }));
          },
        });
        const read = all(stalled.brands[kind]({}, from === 'call' ? { signal } : {}));
        expect(await failure(read)).toBe(reason);
      }
    },
  );
});

describe('The cache of the client', () => {
  it('sends the entity tag, and gives the kept page while nothing has changed', async () => {
    const { brands } = recording({ cache: 10 });
    const query = { limit: 2 };
    const first = await brands.list(query);
    const expected = structuredClone(first);
    first.objects.length = 0;
    const again = await brands.list(query);
    expect({ ...again, updatedUntil: '' }).toEqual({ ...expected, updatedUntil: '' });
    expect((await brands.list({ limit: 3 })).objects.length).toBe(3);
    await service.load('brands', [{ brandID: 'b100', name: 'Changed' }]);
    expect((await brands.list(query)).objects[0]?.name).toBe('Changed');
    await service.load('brands', [{ brandID: 'b100', name: 'Brand 0' }]);
    expect(requests.map(({ status }) => status)).toEqual([200, 304, 200, 200]);
  });

  it('keeps the pages that were used last', async () => {
    const { categories } = recording({ cache: 2 });
    for (const limit of [1, 2, 1, 3, 1, 2]) await categories.list({ limit });
    expect(requests.map(({ status }) => status)).toEqual([200, 200, 304, 200, 304, 200]);
  });

  it('is there on request', async () => {
    const { categories } = recording();
    for (let round = 0; round < 2; round += 1) await categories.list();
    expect(requests.map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('A mirror of the client', () => {
  /** A store of brands that also counts what it gets at a time, with its cursor. */
  class Store {
    readonly objects = new Map<string, unknown>();
    readonly batches: number[] = [];
    cursor: string | undefined;

    readonly save = (cursor: string | undefined): void => {
      this.cursor = cursor;
    };

    clear(): void {
      this.objects.clear();
    }

    async put(objects: readonly { readonly brandID: string }[]): Promise<void> {
      await sleep(1);
      this.batches.push(objects.length);
      for (const object of objects) this.objects.set(object.brandID, object);
    }

    delete(identifiers: readonly string[]): void {
      for (const identifier of identifiers) this.objects.delete(identifier);
    }
  }

  /** A mirror of the brands that goes on where the store is. */
  const mirrorOf = (
    store: Store,
    fields?: readonly ('brandID' | 'name')[],
    client: Catalogue = clientOf(service),
  ) => {
    const { cursor, save } = store;
    return client.mirror({ brands: store }, { cursor, save, fields: { brands: fields } });
  };

  const table = async (): Promise<string[]> =>
    (await service.dataSource.query<Brand[]>('SELECT "brandID" FROM brands')).map(
      ({ brandID }) => brandID,
    );

  const present = (store: Store) => [...store.objects.keys()].sort();

  it('gives objects in parts, with the fields asked for', async () => {
    await service.dataSource.query(
      `INSERT INTO brands ("brandID", name) SELECT 'm' || n, 'M' FROM generate_series(1, 1955) n`,
    );
    const store = new Store();
    await mirrorOf(store, ['brandID']).round();
    expect(Date.parse(store.cursor?.slice(0, 23) ?? '')).toBeGreaterThan(0);
    expect(store.batches).toEqual([1000, 1000]);
    expect(store.objects.get('m7')).toEqual({ brandID: 'm7' });
    await service.dataSource.query(`DELETE FROM brands WHERE "brandID" LIKE 'm%'`);
    await mirrorOf(store, ['brandID']).round();
    expect(present(store)).toEqual((await table()).sort());
  });

  it('gives objects with their identifier, whatever fields are asked for', async () => {
    const store = new Store();
    await mirrorOf(store, ['name']).round();
    expect(store.objects.get('b101')).toEqual({ brandID: 'b101', name: 'Brand 1' });
    expect(store.objects.size).toBe(45);
  });

  it('reads everything of a round by one request', async () => {
    const store = new Store();
    const mirror = mirrorOf(store, undefined, recording());
    await mirror.round();
    await mirror.round();
    expect(requests.map(({ url }) => url.pathname)).toEqual(['/changes', '/changes']);
  });

  it('begins a new copy for other resources or fields, and when deletions are no longer kept', async () => {
    const store = new Store();
    await mirrorOf(store, ['name']).round();
    for (const fields of [undefined, ['brandID']] as const) {
      store.objects.set('gone', {});
      await mirrorOf(store, fields).round();
      expect(present(store)).toEqual((await table()).sort());
    }
    store.objects.set('gone', {});
    store.cursor = `2001${(store.cursor ?? '').slice(4)}`;
    const mirror = mirrorOf(store, ['brandID']);
    await mirror.round();
    expect(mirror.status()).toMatchObject({ begun: 1, rounds: 1, isComplete: true });
    expect(present(store)).toEqual((await table()).sort());
  });

  it('waits for a change before a round, unless the one before failed', async () => {
    const store = new Store();
    const mirror = mirrorOf(store, undefined, recording());
    const round = () => mirror.round({ wait: 30 });
    await service.load('brands', [{ brandID: 'waiting', name: 'W' }]);
    await round();
    expect(store.objects.has('waiting')).toBe(true);
    // Also a deletion between two rounds.
    const second = round();
    await sleep(500);
    await service.dataSource.query(`DELETE FROM brands WHERE "brandID" = 'waiting'`);
    await second;
    expect(store.objects.has('waiting')).toBe(false);
    const began = performance.now();
    const third = round();
    // The round sends one request, which waits.
    await until(() => requests.length === 2);
    await sleep(1500);
    expect(requests.length).toBe(2);
    expect(mirror.status().age).toBeGreaterThan(1000);
    await service.load('brands', [{ brandID: 'waiting', name: 'W' }]);
    const put = jest.spyOn(store, 'put').mockRejectedValueOnce(new Error('The disk is full'));
    await expect(third).rejects.toThrow('disk');
    expect(performance.now() - began).toBeLessThan(15_000);
    put.mockRestore();
    await round();
    expect(store.objects.has('waiting')).toBe(true);
    expect(performance.now() - began).toBeLessThan(20_000);
    await service.dataSource.query(`DELETE FROM brands WHERE "brandID" = 'waiting'`);
  });

  it('is confirmed by the end of a wait without a change, and goes on from there', async () => {
    const store = new Store();
    const mirror = mirrorOf(store);
    expect(mirror.status()).toMatchObject({ isComplete: false, age: Infinity, begun: 0 });
    expect(await mirror.round()).toBe(true);
    const { cursor } = store;
    await advanceWatermark(service.dataSource, 3);
    expect(await mirror.round({ wait: 1 })).toBe(false);
    expect((store.cursor ?? '') > (cursor ?? '')).toBe(true);
    const { age, updatedUntil, rounds } = mirror.status();
    expect(age).toBeLessThan(1000);
    expect(rounds).toBe(1);
    expect(store.cursor?.startsWith((updatedUntil ?? '').slice(0, -1))).toBe(true);
  });

  it('writes a round in one transaction, which it rolls back if it fails', async () => {
    const store = new Store();
    const calls: string[] = [];
    const call = (name: string) => () => void calls.push(name);
    const transaction = {
      begin: call('begin'),
      commit: call('commit'),
      rollback: call('rollback'),
    };
    const { save } = store;
    const mirror = clientOf(service).mirror({ brands: store }, { save, ...transaction });
    await mirror.round();
    const error = new Error('The disk is full');
    const put = jest.spyOn(store, 'put').mockRejectedValue(error);
    await service.load('brands', [{ brandID: 'rolled', name: 'R' }]);
    expect(await failure(mirror.round())).toBe(error);
    put.mockRestore();
    await mirror.round();
    expect(calls).toEqual(['begin', 'commit', 'begin', 'rollback', 'begin', 'commit']);
    expect(store.objects.has('rolled')).toBe(true);
    expect(mirror.status().begun).toBe(1);
    await service.dataSource.query(`DELETE FROM brands WHERE "brandID" = 'rolled'`);
  });

  it('waits for the store, and ends with its error', async () => {
    const error = new Error('The disk is full');
    const store = new Store();
    store.put = () => Promise.reject(error);
    expect(await failure(mirrorOf(store).round())).toBe(error);
  });

  it('forgets the cursor before it begins again', async () => {
    const store = new Store();
    await mirrorOf(store).round();
    store.cursor = `2001${(store.cursor ?? '').slice(4)}`;
    store.clear = () => {
      throw new Error('The disk is full');
    };
    await expect(mirrorOf(store).round()).rejects.toThrow('disk');
    expect(store.cursor).toBeUndefined();
  });

  it('keeps the cursor when there is no later time', async () => {
    const without: typeof fetch = async (...args) => {
      const response = await fetch(...args);
      const headers = new Headers(response.headers);
      headers.delete('X-Updated-Until');
      return new Response(response.body, { headers });
    };
    const client = clientOf(service, { fetch: without });
    const store = new Store();
    await mirrorOf(store, undefined, client).round();
    expect(store.cursor).toBeUndefined();
    await mirrorOf(store).round();
    const { cursor } = store;
    await mirrorOf(store, undefined, client).round();
    expect(store.cursor).toBe(cursor);
  });
});
