import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { catalogue } from '../cli/catalogue.js';
import { loadBrands } from '../database/load-brands.js';
import { Instance } from '../faults/instance.js';
import { until } from '../until.js';
import { createDatabase, queryOn, type TestDatabase } from '#server/testing/database.js';

const HOUR = 3_600_000;

/** What a process loads whose clock is wrong by some milliseconds. */
const wrongBy = (milliseconds: number) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `const Right = Date;
     globalThis.Date = class Date extends Right {
       constructor(...given) { given.length ? super(...given) : super(Right.now() + ${milliseconds}); }
       static now() { return Right.now() + ${milliseconds}; }
     };`,
  )}`,
});

let database: TestDatabase;
let headers: Readonly<Record<string, string>>;
let instances: Instance[];

beforeAll(async () => {
  database = await createDatabase();
  headers = (await loadBrands(database.url, ['tester'], 1)).tester;
  instances = await Promise.all(
    [0, HOUR, -HOUR].map((wrong) => Instance.start(database.url, wrongBy(wrong))),
  );
});
afterAll(async () => {
  await Promise.all(instances.map((instance) => instance.kill()));
  await database.drop();
});

const get = (instance: Instance, path: string, more: Record<string, string> = {}) =>
  fetch(`${instance.address}${path}`, { headers: { ...headers, ...more } });
const changes = (instance: Instance, since: string) =>
  get(instance, `/changes?resources=brands&since=${since}`, { Accept: 'application/x-ndjson' });

it('Instances whose clocks differ by hours tell the same watermark and versions', async () => {
  const [right, ...wrong] = instances as [Instance, Instance, Instance];
  for (const instance of wrong) {
    const first = await get(instance, '/brands');
    const since = first.headers.get('X-Updated-Until') ?? '';
    // The watermark has more digits than a time of JavaScript.
    expect(Math.abs(Date.parse(since.slice(0, 23) + 'Z') - Date.now())).toBeLessThan(60_000);
    const known = { 'If-None-Match': first.headers.get('ETag') ?? '' };
    expect((await get(right, '/brands', known)).status).toBe(304);
    const waits = get(instance, `/brands?updatedSince=${since}&fields=name`, {
      Prefer: 'wait=30',
    });
    await queryOn(database.url, `UPDATE brands SET name = name || '!' WHERE "brandID" = 'b0'`);
    for (const answer of [await waits, await get(right, `/brands?updatedSince=${since}`)])
      expect(await answer.json()).toMatchObject({ response_data: { count: '1' } });
    expect((await changes(instance, since)).status).toBe(200);
  }
});

it('What is nearly as old as deletions are kept is refused by a clock that is ahead', async () => {
  const old = new Date(Date.now() - 30 * 24 * HOUR + HOUR / 2).toISOString();
  const asked = instances.map((each) => changes(each, old));
  // They are kept for a day longer, so that the clock that is behind misses none.
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 400, 200]);
});

it.each([HOUR, -HOUR])('A token issued by a clock wrong by %i ms lives as long', async (wrong) => {
  const environment = { DATABASE_URL: database.url, ...wrongBy(wrong) };
  const issued = await catalogue(['token', 'issue', 'tester', '--expires', '1h'], environment);
  const token = issued.stdout.trim();
  const [{ left } = { left: NaN }] = await queryOn<{ left: number }>(
    database.url,
    `SELECT extract(epoch FROM "expiresAt" - now())::float8 AS left FROM access_tokens
     WHERE "tokenID" = '${issued.stderr.slice(0, 16)}'`,
  );
  expect(left).toBeGreaterThan(3000);
  expect(left).toBeLessThan(3601);
  const statuses = () =>
    Promise.all(
      instances.map(
        async (each) => (await get(each, '/brands', { Authorization: `Bearer ${token}` })).status,
      ),
    );
  expect(await statuses()).toEqual([200, 200, 200]);
  await queryOn(
    database.url,
    `UPDATE access_tokens SET "expiresAt" = now() - interval '1 s' WHERE "tokenID" = '${issued.stderr.slice(0, 16)}'`,
  );
  await until(async () => (await statuses()).every((status) => status === 401));
});
