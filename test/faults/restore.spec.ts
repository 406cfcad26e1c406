import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { SchemaDoubt } from '#server/database/schema-doubt.js';
import { SchemaCheck } from '#server/schema/schema-check.js';
import { connectedTo, createDatabase, type TestDatabase } from '#server/testing/database.js';
import { logLines } from '../log-lines.js';
import { refusal, type Service, startService } from '../service.js';
import { until } from '../until.js';
import { Load } from './load.js';

let database: TestDatabase;
let service: Service;
let client: Client;
let load: Load | undefined;

beforeAll(async () => {
  logLines('error', 'warn');
  database = await createDatabase();
  service = await startService({ DATABASE_URL: database.url, PAGE_CACHE_MB: '0' });
  await service.load('brands', [{ brandID: 'b', name: 'Brand' }]);
  await service.application.get(SchemaCheck).start();
  client = await connectedTo(database.url);
});
afterAll(async () => {
  jest.restoreAllMocks();
  await load?.stop();
  await client.end();
  await service.stop();
  await database.drop();
});

const query = (sql: string) => client.query(sql);

/** Empty tables without keys, indexes and triggers, which `pg_restore` creates last. */
const BARE_TABLES = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'kept' LOOP
    EXECUTE format('CREATE TABLE public.%1$I (LIKE kept.%1$I INCLUDING GENERATED)', name);
  END LOOP;
END $$`;

it('While the database is restored under the service, every answer is right or -2', async () => {
  load = new Load(
    4,
    [`http://127.0.0.1:${service.port}`],
    ['/brands?limit=20', '/brands/b', '/facets/products'],
    service.headers,
  );
  await load.untilMore(20);
  const began = performance.now();
  // In the steps of pg_restore --clean, each of which commits by itself.
  await query('ALTER SCHEMA public RENAME TO kept');
  await query('CREATE SCHEMA public');
  await load.untilMore(20);
  await query(BARE_TABLES);
  const bare = performance.now();
  // Longer than the interval of the check.
  await sleep(4000);
  await service.anonymous().get('/health/ready').expect(503);
  await service.get('/brands').expect(503, refusal(-2, 'The service is temporarily unavailable'));
  await service
    .anonymous()
    .get('/brands?clientID=unknown&access_token=unknown')
    .expect(503, refusal(-2, 'The service is temporarily unavailable'));
  await query('DROP SCHEMA public CASCADE');
  await query('ALTER SCHEMA kept RENAME TO public');
  await until(async () => (await service.anonymous().get('/health/ready')).status === 200);
  const back = performance.now();
  await load.untilMore(20);
  const outcomes = await load.stop();
  expect(new Set(outcomes.map(({ errcode }) => errcode))).toEqual(new Set(['0', '-2']));
  const during = outcomes.filter((each) => each.began > bare && each.ended < back - 3500);
  expect(new Set(during.map(({ errcode }) => errcode))).toEqual(new Set(['-2']));
  const after = load.since(back);
  expect(new Set(after.map(({ errcode }) => errcode))).toEqual(new Set(['0']));
  expect(outcomes.filter((each) => each.ended < began && each.errcode !== '0')).toEqual([]);
});

it('A statement of our own on a table that there is not stays a fault', async () => {
  const doubt = service.application.get(SchemaDoubt);
  const failure = Object.assign(new Error('relation "nope" does not exist'), { code: '42P01' });
  // Shortly after a restore it may be of that.
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
  expect(await doubt.explains(failure)).toBe(false);
  jest.restoreAllMocks();
  expect(await doubt.explains(Object.assign(new Error('syntax'), { code: '42601' }))).toBe(false);
});
