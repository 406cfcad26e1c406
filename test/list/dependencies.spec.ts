import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import { Brand } from '../../src/brands/brand.entity.js';
import { findViolations } from '../../src/verify/verify.js';
import { ListReader } from '../../src/list/reading/list-reader.js';
import { Listing } from '../../src/list/listing/listing.js';
import { versionedTables } from '../../src/list/reading/dependencies.js';
import { CAPABILITIES, capabilitiesOf } from '../../src/resource/capabilities.js';
import { uncachedLists } from '../../src/verify/uncached-lists.js';
import { sentStatements } from '../sent-statements.js';
import { type Service, startService } from '../service.js';
import { PARTS, PartsModule } from './part.fixture.js';

let service: Service;

beforeAll(async () => {
  service = await startService({}, PartsModule);
  await query(PARTS);
  await service.load('products', [{ productID: 'p', type: 'PHYSICAL', name: 'A blue one' }]);
});
afterAll(() => service.stop());
beforeEach(() => query(`UPDATE test_makers SET name = 'Acme' WHERE "makerID" = 'm1'`));

const query = (sql: string) => service.dataSource.query<unknown[]>(sql);
const rename = () => query(`UPDATE test_makers SET name = 'Other' WHERE "makerID" = 'm1'`);

async function partsOf(path: string): Promise<string[]> {
  const { body } = await service.get(path).expect(200);
  return body.response_data.objects.map(({ partID }: { partID: string }) => partID);
}

/**
 * The statements that `work` sends, except those for credentials. `looks` is how often the service
 * analyses a statement, for which it takes a connection.
 */
async function sent(work: () => Promise<unknown>): Promise<{ texts: string[]; looks: number }> {
  const { master: pool } = service.dataSource.driver as unknown as { master: Pool };
  const [query, connect] = [jest.spyOn(pool, 'query'), jest.spyOn(pool, 'connect')];
  await work();
  const texts = sentStatements(query).map(({ text }) => text);
  // With a callback, it is the pool itself that connects, for a query.
  const looks = (connect.mock.calls as unknown[][]).filter((values) => values.length === 0).length;
  query.mockRestore();
  connect.mockRestore();
  return { texts, looks };
}

describe('A list that depends on another table', () => {
  it.each([
    ['by a subquery', 'makerName=Acme', ['a'], []],
    ['by the opposite of one', 'makerNameNot=Acme', ['b'], ['a', 'b', 'c']],
    ['by a view', 'makerByView=Acme', ['a'], []],
    ['by a function that is not immutable', 'makerByFunction=Acme', ['a'], []],
    ['only for another value', 'makerOrAny=Acme', ['a'], []],
    ['in one of several filters', 'makerName=Acme&weightMin=1', ['a'], []],
    ['in an order of its own', 'makerName=Acme&sort=-weight', ['a'], []],
  ])('%s, is right at once when that changes, and has no tag', async (_, filter, before, after) => {
    const path = `/test_parts?${filter}`;
    expect(await partsOf(path)).toEqual(before);
    const first = await service.get(path).expect(200);
    expect(first.headers.etag).toBeUndefined();
    expect(first.headers['x-updated-until']).toBeUndefined();
    await rename();
    expect(await partsOf(path)).toEqual(after);
    await service.get(path).set('If-None-Match', '*').expect(200);
  });

  it('for some values only is recognised by its text, whichever value comes first', async () => {
    const etag = async (value: string) =>
      (await service.get(`/test_parts?makerOrAny=${value}&limit=1`).expect(200)).headers.etag;
    expect([await etag('any'), await etag('Acme')]).toEqual([undefined, undefined]);
  });

  it('has no tag as a whole list either, and is right', async () => {
    const whole = () =>
      service
        .get('/test_parts?makerName=Acme&fields=partID')
        .set('Accept', 'application/x-ndjson')
        .set('If-None-Match', '*')
        .expect(200);
    const { headers, text } = await whole();
    expect(text).toBe('{"partID":"a"}\n');
    expect(headers.etag).toBeUndefined();
    await rename();
    expect((await whole()).text).toBe('');
  });

  it('has links all the same', async () => {
    const { headers } = await service.get('/test_parts?makerNameNot=x&limit=1').expect(200);
    expect(headers.link).toContain('offset=1');
  });

  it('is analysed once, and then costs its own statement only', async () => {
    const path = (value: string) => `/test_parts?makerName=${value}&halfWeightMin=1`;
    const values = ['one', 'two', 'one'];
    for (const [at, value] of values.entries()) {
      const { texts, looks } = await sent(() => service.get(path(value)).expect(200));
      expect(texts).toEqual([expect.stringMatching(/^WITH .*test_makers/s)]);
      expect(looks).toBe(at === 0 ? 1 : 0);
    }
  });

  it('is analysed again if that failed', async () => {
    const path = '/test_parts?makerName=Acme&asHeavyAs=a';
    const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await query('ALTER TABLE test_makers RENAME TO test_hidden');
    await service.get(path).expect(500);
    log.mockRestore();
    await query('ALTER TABLE test_hidden RENAME TO test_makers');
    await service.get(path).expect(200);
    await rename();
    expect(await partsOf(path)).toEqual([]);
  });

  it('which a service lists under the version of another resource, has no tag', async () => {
    const brands = service.dataSource.getRepository(Brand);
    const reader = service.application.get(ListReader);
    const listing = reader.prepare(new Listing(brands, {}, [], ['products']));
    expect(await listing.dependencies?.()).toEqual(['brands']);
  });

  it('of an entity that is no resource has none, since nothing gives it a version', () => {
    class Ledger {
      ledgerID = '1';
    }
    expect(capabilitiesOf({ target: Ledger })).toEqual(CAPABILITIES.untracked);
    expect(capabilitiesOf('ledgers')).toEqual(CAPABILITIES.untracked);
    expect(versionedTables(['ledgers'])).toEqual([]);
    for (const resource of ['products', { target: Brand }])
      expect(capabilitiesOf(resource)).toEqual(CAPABILITIES.own);
  });

  it('is analysed again after ten seconds, since a function may be another one by then', async () => {
    const path = '/test_parts?halfWeightMin=2&weightMin=1';
    const define = (volatility: string) =>
      query(
        `CREATE OR REPLACE FUNCTION test_double(integer) RETURNS integer ${volatility} LANGUAGE sql AS 'SELECT 2 * $1'`,
      );
    expect((await service.get(path).expect(200)).headers).toHaveProperty('etag');
    await define('VOLATILE');
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 11_000);
    expect((await service.get(path).expect(200)).headers).not.toHaveProperty('etag');
    clock.mockRestore();
    await define('IMMUTABLE');
  });

  it('by the clock has no tag', async () => {
    const { headers } = await service.get('/test_parts?now=true').expect(200);
    expect(headers.etag).toBeUndefined();
  });
});

describe('A list that depends on its own table alone', () => {
  it.each([
    ['without a filter', '/test_parts'],
    ['in another order', '/test_parts?sort=weight'],
    ['with a plain filter', '/test_parts?weightMin=2'],
    ['with a negative bound', '/test_parts?weightMin=-5'],
    ['with an immutable function', '/test_parts?halfWeightMin=2'],
    ['with a subquery on itself', '/test_parts?asHeavyAs=a'],
    ['with words', '/products?q=blue'],
    ['of deletions', `/deletions/test_parts?deletedSince=${new Date().toISOString()}`],
  ])('%s, is answered 304, or out of memory, by its version alone', async (_, path) => {
    const { headers, body } = await service.get(path).expect(200);
    expect(headers.etag).toMatch(/^W\/"/);
    const { texts, looks } = await sent(async () => {
      await service.get(path).set('If-None-Match', String(headers.etag)).expect(304);
      expect((await service.get(path).expect(200)).body).toEqual(body);
    });
    expect([texts.length, looks]).toEqual([2, 0]);
    for (const text of texts) expect(text).toMatch(/^SELECT \(SELECT resource_version\(/);
  });

  it('is not analysed if all its filters are plain', async () => {
    const { texts, looks } = await sent(() => service.get('/test_parts?weightMin=3&sort=-weight'));
    expect([texts.length, looks]).toEqual([1, 0]);
  });
});

describe('The filters with which lists are not cached', () => {
  it('are reported, each with what it depends on', async () => {
    const line = (filter: string, what: string) =>
      `lists of test_parts with the filter ${filter} are not cached and have no ETag, since it depends on ${what}`;
    expect(await uncachedLists(service.application)).toEqual([
      line('makerName', 'test_makers'),
      line('makerNameNot', 'test_makers'),
      line('makerByView', 'test_maker_names, test_makers'),
      line('makerByFunction', 'the function test_maker_name(text)'),
      line('makerOrAny', 'test_makers'),
      line('now', 'the clock'),
    ]);
  });

  it('are not reported as errors', async () => {
    expect(
      (await findViolations(service.application)).filter((found) => found.includes('cached')),
    ).toEqual([]);
  });
});
