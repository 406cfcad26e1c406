import { primaryPool } from '#server/private-api/database.js';
import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Brand } from '../../src/brands/brand.entity.js';
import { callLists } from '#server/verify/called-lists.js';
import { authorReads } from '#server/verify/author-reads.js';
import { findViolations } from '#server/verify/verify.js';
import { hasOwnTable } from '#server/resource/resource.js';
import { sentStatements } from '../sent-statements.js';
import { sharedService } from '../service.js';
import { PARTS, PartsModule } from './part.fixture.js';

const service = sharedService({}, PartsModule);

beforeAll(async () => {
  await query(PARTS);
  await service.load('products', [{ productID: 'p', type: 'PHYSICAL', name: 'A blue one' }]);
});
beforeEach(() => query(`UPDATE test_makers SET name = 'Acme' WHERE "makerID" = 'm1'`));

const query = (sql: string) => service.dataSource.query<unknown[]>(sql);
const rename = () => query(`UPDATE test_makers SET name = 'Other' WHERE "makerID" = 'm1'`);

async function partsOf(path: string): Promise<string[]> {
  const { body } = await service.get(path).expect(200);
  return body.response_data.objects.map(({ partID }: { partID: string }) => partID);
}

/** The statements that `work` sends, except those for credentials. */
async function sent(work: () => Promise<unknown>): Promise<string[]> {
  const pool = primaryPool(service.dataSource);
  const query = jest.spyOn(pool, 'query');
  const connect = jest.spyOn(pool, 'connect');
  await work();
  const texts = sentStatements(query).map(({ text }) => text);
  // With a callback, it is the pool itself that connects, for a query.
  expect((connect.mock.calls as unknown[][]).filter(({ length }) => length === 0)).toEqual([]);
  query.mockRestore();
  connect.mockRestore();
  return texts;
}

describe('A list whose SQL reads what is no resource', () => {
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

  it('costs its own statement only', async () => {
    const [text, ...others] = await sent(() => service.get('/test_parts?makerName=a').expect(200));
    expect(text).toMatch(/^WITH .*test_makers/s);
    expect(others).toEqual([]);
  });

  it('has no tag either if its class does not say what it reads', async () => {
    const etag = async (path: string) => (await service.get(path).expect(200)).headers.etag;
    expect(await etag('/silent_parts?halfWeightMin=2')).toBeUndefined();
    expect(await etag('/silent_parts?partID=a')).toBeDefined();
  });

  it('of an entity that is no resource has none, since nothing gives it a version', () => {
    class Ledger {
      ledgerID = '1';
    }
    expect(hasOwnTable({ target: Ledger })).toBe(false);
    expect(hasOwnTable('ledgers')).toBe(false);
    for (const resource of ['products', { target: Brand }])
      expect(hasOwnTable(resource)).toBe(true);
  });

  it('by the clock has no tag', async () => {
    const { headers } = await service.get('/test_parts?now=true').expect(200);
    expect(headers.etag).toBeUndefined();
  });
});

describe('A list that reads its own table alone', () => {
  it.each([
    ['without a filter', '/test_parts'],
    ['in another order', '/test_parts?sort=weight'],
    ['with a plain filter', '/test_parts?weightMin=2'],
    ['with a negative bound', '/test_parts?weightMin=-5'],
    ['with an immutable function', '/own_parts?halfWeightMin=2'],
    ['with a subquery on itself', '/own_parts?asHeavyAs=a'],
    ['with words', '/products?q=blue'],
  ])('%s, is answered 304, or out of memory, by its version alone', async (_, path) => {
    const { headers, body } = await service.get(path).expect(200);
    expect(headers.etag).toMatch(/^W\/"/);
    const texts = await sent(async () => {
      await service.get(path).set('If-None-Match', String(headers.etag)).expect(304);
      expect((await service.get(path).expect(200)).body).toEqual(body);
    });
    expect(texts).toHaveLength(2);
    for (const text of texts) expect(text).toMatch(/^SELECT \(SELECT resource_version\(/);
  });
});

describe('What SQL of an author reads, beside what its class says', () => {
  it('is reported by verify', async () => {
    const unsaid = (what: string, read: string) =>
      `the filter ${what} of test_parts reads ${read}, which reads of @QueryOf of ListWrongPartsDto does not name`;
    const lines = [
      unsaid('makerName', 'test_makers'),
      unsaid('makerByView', 'test_maker_names, test_makers'),
      unsaid('makerByFunction', 'the function test_maker_name(text)'),
      unsaid('now', 'the clock'),
      'the filter halfWeightMin of test_parts gives its lists no ETag, since it is SQL, and reads of @QueryOf of ListSilentPartsDto does not say what it reads',
    ];
    expect(await authorReads(await callLists(service.application), service.application)).toEqual(
      lines,
    );
    expect(await findViolations(service.application)).toEqual(expect.arrayContaining(lines));
  });
});
