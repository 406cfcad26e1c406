import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { markOf } from '#server/list/query/since.js';
import { createDatabase, queryOn, type TestDatabase } from '#server/testing/database.js';
import { LINES } from '../deleted.js';
import { refusal, type Service, startService } from '../service.js';
import { advanceWatermark } from '../watermark.js';

let database: TestDatabase;
let service: Service;

beforeAll(async () => {
  database = await createDatabase();
  // The server of the tests does not flush what is committed.
  await queryOn(database.url, `ALTER DATABASE "${nameOf(database)}" SET synchronous_commit = on`);
  service = await startService({ DATABASE_URL: database.url });
  await service.load('brands', [{ brandID: 'b', name: 'Brand' }]);
});
afterAll(async () => {
  await service.stop();
  await database.drop();
});
beforeEach(() => advanceWatermark(service.dataSource, 2));

const LOST = refusal(-38, 'The changes since then are not known: read the whole list');

/** The `X-Updated-Until` of a list of changes. */
async function given(): Promise<string> {
  const { headers } = await service.get('/brands?updatedSince=1970-01-01T00:00:00Z').expect(200);
  return String(headers['x-updated-until']);
}

/** Makes the row of the watermark one that advance_watermark has not written, as after a restore. */
const restore = () => service.dataSource.query('UPDATE watermark SET timeline = NULL');

/** What else asks for changes since a time. */
const PATHS = [
  ['a page', '/brands?updatedSince=', {}],
  ['facets', '/facets/products?facets=type&updatedSince=', {}],
  ['changes', '/changes?resources=brands&since=', LINES],
] as const;

it('A time with a mark is read as its milliseconds', async () => {
  const until = await given();
  expect(until).toMatch(/^.{19}\.\d{28}Z$/);
  const since = `${until.slice(0, 23)}Z`;
  await service.dataSource.query('ALTER TABLE brands DISABLE TRIGGER brands_updated_at');
  await service.dataSource.query('UPDATE brands SET "updatedAt" = $1', [since]);
  await service.dataSource.query('ALTER TABLE brands ENABLE TRIGGER brands_updated_at');
  const { body } = await service.get(`/brands?updatedSince=${until}`).expect(200);
  expect(body.response_data.count).toBe('1');
});

it.each(PATHS)('%s since a time of the same history is given, also as 304', async (...row) => {
  const [, path, accept] = row;
  const get = (since: string) => service.get(path + since).set(accept);
  const until = await given();
  const { headers } = await get(until).expect(200);
  await get(until).set('If-None-Match', String(headers.etag)).expect(304);
});

it.each(PATHS)('%s since a time that was lost is -38, also beside a tag', async (...row) => {
  const [, path, accept] = row;
  const get = (since: string) => service.get(path + since).set(accept);
  const kept = await given();
  await advanceWatermark(service.dataSource, 1);
  const lost = await given();
  const { headers } = await get(lost).expect(200);
  await restore();
  await get(kept).expect(503, refusal(-2, 'The service is temporarily unavailable'));
  await advanceWatermark(service.dataSource, 1);
  for (let repeated = 0; repeated < 2; repeated += 1) {
    await get(kept).expect(200);
    await get(lost).expect(410, LOST);
    await get(lost).set('If-None-Match', String(headers.etag)).expect(410, LOST);
    // The history before the last one.
    await restore();
    await advanceWatermark(service.dataSource, 1);
  }
});

it('A whole list since a time that was lost is -38', async () => {
  const lost = await given();
  await restore();
  await advanceWatermark(service.dataSource, 1);
  const path = `/brands?updatedSince=${lost}`;
  await service.get(path).set('Accept', 'application/x-ndjson').expect(410, LOST);
  const again = `/brands?updatedSince=${await given()}`;
  await service.get(again).set('Accept', 'application/x-ndjson').expect(200);
});

it('A list of all goes on until the history has begun, without a mark', async () => {
  await restore();
  const { headers } = await service.get('/brands').expect(200);
  expect(headers['x-updated-until']).toMatch(/\.\d{3}Z$/);
});

it('A time without a mark is as good as any', async () => {
  const until = await given();
  await restore();
  await advanceWatermark(service.dataSource, 1);
  await service.get(`/brands?updatedSince=${until.slice(0, 23)}Z`).expect(200);
});

it('Nobody has a mark of a history that never was', async () => {
  const until = await given();
  const other = until.slice(0, 23) + '0'.repeat(25) + 'Z';
  await service.get(`/brands?updatedSince=${other}`).expect(410, LOST);
});

it('A time that is earlier in the present history is no other one', async () => {
  const { history } = markOf(await given()) ?? {};
  await advanceWatermark(service.dataSource, 1);
  expect(markOf(await given())?.history).toBe(history);
});

it('A mark beyond the end of the log is lost: an older data directory was put back', async () => {
  const until = await given();
  const beyond =
    until.slice(0, 32) + String(BigInt(until.slice(32, -1)) + 2n ** 32n).padStart(16, '0');
  await service.get(`/brands?updatedSince=${beyond}Z`).expect(410, LOST);
});

it('A copy of the database begins a history of its own', async () => {
  const original = await createDatabase();
  const name = nameOf(original);
  const url = new URL(original.url);
  url.pathname += '_copy';
  const copy = url.href;
  const [row] = await queryOn(
    original.url,
    'SELECT advance_watermark(), current_watermark() AS until',
  );
  expect(row).toEqual({ advance_watermark: '', until: null });
  const numbered = 'SELECT history FROM watermark';
  const [{ history } = {}] = await queryOn<{ history?: string }>(original.url, numbered);
  const has = `SELECT has_history(${history}, pg_current_wal_flush_lsn() - '0/0') AS has`;
  expect(await queryOn(original.url, has)).toEqual([{ has: true }]);
  await queryOn(database.url, `CREATE DATABASE "${name}_copy" TEMPLATE "${name}"`);
  // What is later than the row may be later than the copy.
  expect(await queryOn(copy, has)).toEqual([{ has: false }]);
  await queryOn(copy, 'SELECT advance_watermark()');
  const [{ history: own } = {}] = await queryOn<{ history?: string }>(copy, numbered);
  expect(own).not.toBe(history);
  await queryOn(database.url, `DROP DATABASE "${name}_copy"`);
  await original.drop();
});

const nameOf = ({ url }: TestDatabase): string => new URL(url).pathname.slice(1);
