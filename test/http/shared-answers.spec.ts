import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  Controller,
  type ExecutionContext,
  Get,
  Headers,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  Query,
} from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { InjectRepository } from '@nestjs/typeorm';
import type { Test } from 'supertest';
import { Raw, Repository } from 'typeorm';
import { type Listing, ListModule, listOf } from '@catalogue/server';
import type { CatalogueRequest } from '#server/http/request.js';
import { share } from '#server/list/serving/shared-answer.js';
import { Rights } from '#server/resource/visibility.js';
import { ClientsService } from '#server/clients/clients.service.js';
import { Brand } from '../../src/brands/brand.entity.js';
import { ListBrandsDto } from '../../src/brands/list-brands.dto.js';
import { refusal, type Service, sharedService, startService } from '../service.js';
import { until } from '../until.js';
import { advanceWatermark } from '../watermark.js';

const SHARED = 'public, max-age=0, s-maxage=3, stale-while-revalidate=3';
const PRIVATE = 'private, no-cache';
const VARY = 'Accept, Authorization, Accept-Encoding';

@Controller('own-lists')
class OwnLists {
  constructor(@InjectRepository(Brand) private readonly brands: Repository<Brand>) {}

  @Get('plain')
  plain(@Query() query: ListBrandsDto): Listing {
    return listOf(this.brands, query);
  }

  @Get('by-header')
  byHeader(@Query() query: ListBrandsDto, @Headers('x-shop') name = 'none'): Listing {
    return listOf(this.brands, Object.assign(query, { name }));
  }

  @Get('by-time')
  byTime(@Query() query: ListBrandsDto): Listing {
    return listOf(this.brands, query, {
      name: () => ({ updatedAt: Raw((column) => `${column} < now()`) }),
    });
  }

  @Get('personal')
  personal(@Query() query: ListBrandsDto): Listing {
    return listOf(this.brands, query);
  }
}

@Module({ imports: [ListModule.forFeature(Brand)], controllers: [OwnLists] })
class OwnListsModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((_request: Request, response: Response, next: NextFunction) => {
        response.setHeader('Cache-Control', 'no-store');
        next();
      })
      .forRoutes('/own-lists/personal');
  }
}

const service = sharedService({}, OwnListsModule);
let clients: ClientsService;
let shop: Service;

beforeAll(async () => {
  clients = service.application.get(ClientsService);
  shop = await service.newClient('shop', { isPublic: true, rateLimit: 10_000 });
  await service.load('brands', [
    { brandID: 'a', name: 'A' },
    { brandID: 'b', name: 'B' },
  ]);
  await service.load('products', [{ productID: 'p', type: 'DIGITAL', brandID: 'a' }]);
  await advanceWatermark(service.dataSource, 3);
});

/** A request without credentials but those in its path. */
const get = (path: string): Test => service.anonymous().get(path);
const missing = refusal(-10, 'The parameter access_token is required');

describe('Without a token', () => {
  it('a public client is named by its identifier, in the query or in X-Client-ID', async () => {
    await get('/brands?clientID=shop').expect(200, /"count":"2"/);
    await get('/brands')
      .set('X-Client-ID', 'shop')
      .expect(200, /"count":"2"/);
    await get('/brands?clientID=shop').set('X-Client-ID', 'shop').expect(400);
    await service.anonymous().options('/brands?clientID=shop').expect(200);
    const { body } = await get('/openapi.json?clientID=shop').expect(200);
    expect(Object.keys(body.paths)).not.toContain('/changes');
    expect(body.security).toContainEqual({ clientID: [] });
    await get('/changes?clientID=shop').expect(403);
  });

  it('all others miss it alike, and so does whatever is sent as one', async () => {
    for (const query of ['tester', 'nobody', '%00', 'SHOP', 'shop&access_token=', 'shop%20'])
      await get(`/brands?clientID=${query}`)
        .expect(401, missing)
        .expect('WWW-Authenticate', 'Bearer realm="catalogue"');
    for (const authorization of ['', 'Basic Zm9v', 'Bearer'])
      await get('/brands?clientID=shop').set('Authorization', authorization).expect(401, missing);
    const invalid = refusal(-11, 'The credentials are not valid');
    await get('/brands?clientID=shop&access_token=x').expect(401, invalid);
    await get('/brands?clientID=shop').set('Authorization', 'Bearer x').expect(401, invalid);
    const { token } = await clients.issue('shop', -1000);
    await get(`/brands?clientID=shop&access_token=${token}`).expect(401, /"-12"/);
  });

  it('takes as long for a client that is not public as for none', async () => {
    await get('/brands?clientID=tester').expect(401);
    for (const clientID of ['tester', 'nobody']) {
      const began = performance.now();
      await get(`/brands?clientID=${clientID}`).expect(401);
      expect(performance.now() - began).toBeGreaterThan(8.5);
    }
  });

  it('a client that is disabled, or no longer public, is refused within ten seconds', async () => {
    for (const clientID of ['barred', 'no-longer'])
      await clients.create(clientID, { isPublic: true });
    for (const clientID of ['barred', 'no-longer'])
      await get(`/brands?clientID=${clientID}`).expect(200);
    await clients.update('barred', { disabled: true });
    await clients.update('no-longer', { isPublic: false });
    await until(async () => {
      const statuses = [
        await get('/brands?clientID=barred'),
        await get('/brands?clientID=no-longer'),
      ];
      return statuses.map(({ status }) => status).join() === '403,401';
    }, 10_000);
    await get('/brands?clientID=barred')
      .expect(403, refusal(-13, 'The client is disabled'))
      .expect('Cache-Control', PRIVATE);
  });

  it('no request waits, since others may come to wait behind it', async () => {
    const { headers } = await get('/brands?clientID=shop').expect(200);
    const began = performance.now();
    const response = await get('/brands?clientID=shop')
      .set({ 'If-None-Match': headers.etag ?? '', Prefer: 'wait=30' })
      .expect(304);
    expect(response.headers).not.toHaveProperty('preference-applied');
    expect(response.headers['cache-control']).toBe(SHARED);
    expect(performance.now() - began).toBeLessThan(5000);
    const waited = await shop
      .get('/brands')
      .set({ 'If-None-Match': headers.etag ?? '', Prefer: 'wait=1' })
      .expect(304);
    expect(waited.headers).toMatchObject({
      'preference-applied': 'wait=1',
      'cache-control': PRIVATE,
    });
  });
});

describe('A cache may keep', () => {
  it.each([
    '/brands?clientID=shop',
    '/brands?client%49D=shop&limit=1',
    '/brands/a?clientID=shop',
    '/facets/products?clientID=shop',
    '/products?clientID=shop&updatedSince=2026-01-01T00:00:00Z',
    '/own-lists/plain?clientID=shop',
  ])('%s, also with HEAD and 304', async (path) => {
    const { headers, text } = await get(path).set('X-Request-Id', 'me').expect(200);
    expect(headers).toMatchObject({ 'cache-control': SHARED, vary: 'Accept, Accept-Encoding' });
    expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(text).toBe((await shop.get(path.replace(/client(I|%49)D=shop&?/, ''))).text);
    const head = await service.anonymous().head(path).expect(200);
    expect(head.headers).toMatchObject({ 'cache-control': SHARED, etag: headers.etag });
    const same = await get(path)
      .set('If-None-Match', headers.etag ?? '')
      .expect(304);
    expect(same.headers).toMatchObject({ 'cache-control': SHARED, etag: headers.etag });
    expect(same.headers).not.toHaveProperty('x-ratelimit-limit');
  });

  it('a list with the time up to which it is complete, in whole seconds, without a mark', async () => {
    const { headers } = await shop.get('/brands').expect(200);
    expect(headers['x-updated-until']).toMatch(/^[\d-]+T[\d:]+\.\d{28}Z$/);
    const kept = (await get('/brands?clientID=shop').expect(200)).headers['x-updated-until'] ?? '';
    expect(kept).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    await get(`/brands?clientID=shop&updatedSince=${kept}`).expect(200);
    // Earlier than that of the client's own, and by less than two seconds.
    const behind = Date.parse(`${headers['x-updated-until']?.slice(0, 23)}Z`) - Date.parse(kept);
    expect(behind).toBeLessThan(2000);
  });
});

describe('No cache may keep', () => {
  it.each([
    ['an error', '/brands?clientID=shop&nonsense=1', {}, 400],
    ['a second clientID', '/brands?clientID=shop&clientID=shop', {}, 400],
    ['a second one of another client', '/brands?clientID=shop&client%49D=tester', {}, 400],
    ['a parameter behind ;', '/brands?clientID=shop;access_token=x', {}, 401],
    ['a name in upper case', '/brands?clientID=shop&ACCESS_TOKEN=x', {}, 400],
    ['an object that there is not', '/brands/none?clientID=shop', {}, 404],
    ['what asks for CSV', '/brands?clientID=shop', { Accept: 'text/csv' }, 403],
    ['what names the client in a header', '/brands', { 'X-Client-ID': 'shop' }, 200],
    [
      'near words, which have no version',
      '/facets/products?clientID=shop&facets=q&q=trosers',
      {},
      200,
    ],
    ['a list that depends on the time', '/own-lists/by-time?clientID=shop&name=past', {}, 200],
    ['a list by a header', '/own-lists/by-header?clientID=shop', { 'X-Shop': 'A' }, 200],
    ['what the project itself keeps private', '/own-lists/personal?clientID=shop', {}, 200],
    ['the document', '/openapi.json?clientID=shop', {}, 200],
  ])('%s', async (_, path, sent, status) => {
    const { headers } = await get(path).set(sent).expect(status);
    expect(headers['cache-control']).toMatch(/^(private, no-cache|no-store)$/);
    expect(headers.vary).toBe(VARY);
  });

  it('what has a token, in any place, in any spelling, and OPTIONS', async () => {
    const { token, clientID } = shop;
    const sent = [
      get(`/brands?clientID=${clientID}&access_token=${token}`),
      get(`/brands?clientID=${clientID}&access%5Ftoken=${token}`),
      get(`/brands?access_token=${token}&client%49D=${clientID}`),
      get(`/brands?clientID=${clientID}`).set('Authorization', `bearer  ${token}`),
      get(`/brands?access_token=${token}`).set('X-Client-ID', clientID),
      shop.get('/brands'),
      service.get('/brands'),
      get(`/brands?clientID=${service.clientID}&access_token=${service.token}`),
      service.anonymous().options(`/brands?clientID=${clientID}`),
    ];
    for (const request of sent) {
      const { headers } = await request.expect(200);
      expect(headers).toMatchObject({ 'cache-control': PRIVATE, vary: VARY });
    }
    const { headers } = await shop.get('/brands').set('X-Request-Id', 'me');
    expect(headers).toMatchObject({ 'x-request-id': 'me', 'x-ratelimit-limit': '10000' });
  });

  it('what is not for the client, or beyond its limit', async () => {
    await clients.create('narrow', { isPublic: true, resources: ['brands'], rateLimit: 1 });
    const refused = await get('/products?clientID=narrow').expect(403);
    const beyond = await get('/brands?clientID=narrow').expect(429);
    for (const { headers } of [refused, beyond]) expect(headers['cache-control']).toBe(PRIVATE);
  });
});

it('An answer to a client that is not public is never shared, however it was named', () => {
  const context = {
    getClass: () => OwnLists,
    getHandler: () => ({ name: 'plain' }),
  } as unknown as ExecutionContext;
  const names: string[] = [];
  const res = {
    hasHeader: () => true,
    getHeader: () => PRIVATE,
    removeHeader: () => undefined,
    setHeader: (name: string) => names.push(name),
  };
  for (const isPublic of [true, false]) {
    names.splice(0);
    const rights = new Rights(null, [], isPublic);
    const request = { client: { clientID: 'x', rights }, headers: {}, parameters: [], res };
    share(context, request as unknown as CatalogueRequest);
    expect(names.includes('Cache-Control')).toBe(isPublic);
  }
});

it('A kept answer depends on Origin where origins are named', async () => {
  const named = await startService({ CORS_ORIGINS: 'https://shop.example.com' });
  await named.newClient('shop', { isPublic: true });
  for (const origin of ['https://shop.example.com', 'https://other.example.com']) {
    const { headers } = await named
      .anonymous()
      .get('/brands?clientID=shop')
      .set('Origin', origin)
      .expect(200);
    expect(headers).toMatchObject({
      'cache-control': SHARED,
      vary: 'Accept, Accept-Encoding, Origin',
    });
  }
  await named.stop();
});
