import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { FRESH, STALE } from '#server/list/serving/shared-answer.js';
import { connectedTo, createDatabase, type TestDatabase } from '#server/testing/database.js';
import { type Credentials, loadBrands } from '../database/load-brands.js';
import { Instance } from '../faults/instance.js';
import { rawRequest } from '../http/raw-request.js';
import { withTool } from '../tools.js';
import { until } from '../until.js';
import { Cache, NGINX } from './cache.js';

const { describe: describeWithCache } = withTool(NGINX);

/** Milliseconds after which a cache must not give an answer as it was, and for the request that replaces it. */
const [KEPT, ASKED] = [(FRESH + STALE) * 1000, 1000];
/** Milliseconds until every instance knows what an operator has changed. */
const KNOWN = 10_000;

describeWithCache('Behind nginx with deploy/cache.conf:', () => {
  let database: TestDatabase;
  let writer: Client;
  let instance: Instance;
  let cache: Cache;
  let headers: Record<'shop' | 'closed', Credentials>;

  beforeAll(async () => {
    database = await createDatabase();
    writer = await connectedTo(database.url);
    headers = await loadBrands(database.url, ['shop', 'closed'], 3);
    await writer.query(`UPDATE clients SET "isPublic" = true WHERE "clientID" = 'shop'`);
    instance = await Instance.start(database.url);
    cache = await Cache.before(instance.address);
  });
  afterAll(async () => {
    await cache.close();
    await instance.kill();
    await writer.end();
    await database.drop();
  });

  let serial = 0;
  /** A URL that nobody has asked for. */
  const newPath = (query = ''): string =>
    `/brands?clientID=shop&brandID=b0,n${(serial += 1)}${query}`;
  const get = (path: string, sent: Credentials = {}, method = 'GET'): Promise<Response> =>
    fetch(cache.address + path, { headers: sent, method });
  const statusOf = async (
    path: string,
    sent: Credentials = {},
    method = 'GET',
  ): Promise<string> => {
    const response = await get(path, sent, method);
    await response.text();
    return `${response.status} ${response.headers.get('x-cache')}`;
  };

  /** The number of requests for lists and objects of brands that the service has answered. */
  async function reached(): Promise<number> {
    const text = await (await fetch(`${instance.adminAddress}/metrics`)).text();
    const counts = text.matchAll(
      /^catalogue_request_duration_seconds_count\{[^}]*route="\/brands[^}]*\} (\d+)$/gm,
    );
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  const rename = (name: string) =>
    writer.query(`UPDATE brands SET name = $1 WHERE "brandID" = 'b0'`, [name]);

  it('what many ask for reaches the service once in each period', async () => {
    const path = newPath();
    const before = await reached();
    // All of them come before the first answer.
    await writer.query('BEGIN; LOCK TABLE brands');
    const asking = Array.from({ length: 100 }, () => statusOf(path));
    await sleep(500);
    await writer.query('COMMIT');
    const first = await Promise.all(asking);
    expect(first.filter((each) => each === '200 MISS')).toHaveLength(1);
    expect(new Set(first)).toEqual(new Set(['200 MISS', '200 HIT']));
    expect((await reached()) - before).toBe(1);
    const began = performance.now();
    while (performance.now() - began < 4 * FRESH * 1000) {
      await Promise.all(Array.from({ length: 20 }, () => statusOf(path)));
      await sleep(100);
    }
    // One at each end of a period, which begins with the answer.
    const asked = (await reached()) - before - 1;
    expect(asked).toBeGreaterThanOrEqual(2);
    expect(asked).toBeLessThanOrEqual(4);
  });

  it('a change is seen when the period is over, while many ask and if nobody has', async () => {
    for (const isAsked of [true, false]) {
      const path = newPath();
      await rename(`before ${isAsked}`);
      expect(await (await get(path)).text()).toContain(`before ${isAsked}`);
      await rename(`after ${isAsked}`);
      const changed = performance.now();
      if (isAsked) {
        await until(async () => (await (await get(path)).text()).includes('after'), KEPT + ASKED);
        expect(performance.now() - changed).toBeGreaterThan(1000 * FRESH - ASKED);
      } else {
        await sleep(KEPT + ASKED);
        expect(await (await get(path)).text()).toContain(`after ${isAsked}`);
      }
    }
  });

  it('what has not changed is asked for by its tag, and a reader gets 304', async () => {
    const path = newPath();
    const response = await get(path);
    const [etag, text] = [response.headers.get('etag') ?? '', await response.text()];
    expect(await statusOf(path, { 'If-None-Match': etag })).toBe('304 HIT');
    await sleep(KEPT + ASKED);
    const again = await get(path);
    expect(again.headers.get('x-cache')).toBe('REVALIDATED');
    expect(await again.text()).toBe(text);
    expect(await statusOf(path, { 'If-None-Match': etag })).toBe('304 HIT');
    expect(await statusOf(path, {}, 'HEAD')).toBe('200 MISS');
    expect(await statusOf(path, {}, 'HEAD')).toBe('200 HIT');
  });

  it('a list since a time has one URL for all who have asked before', async () => {
    await until(async () => (await get('/brands?clientID=shop')).headers.has('x-updated-until'));
    await rename('since');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => get('/brands?clientID=shop&limit=1')),
    );
    const times = new Set(answers.map((answer) => answer.headers.get('x-updated-until')));
    expect([...times]).toEqual([expect.stringMatching(/^[\d-]+T[\d:]+Z$/)]);
  });

  it.each<[string, () => [path: string, sent?: Credentials, method?: string]]>([
    ['with a token', () => ['/brands?limit=1', headers.shop]],
    [
      'with a token beside the identifier',
      () => [newPath(), { Authorization: headers.shop.Authorization ?? '' }],
    ],
    ['with the identifier in a header', () => ['/brands?limit=2', { 'X-Client-ID': 'shop' }]],
    ['of a client that is not public', () => ['/brands?limit=3', headers.closed]],
    ['of one without its token', () => ['/brands?clientID=closed']],
    ['of nobody', () => ['/brands']],
    ['with a wrong token', () => [newPath('&access_token=x')]],
    ['with the name of a token encoded', () => [newPath('&access%5Ftoken=x')]],
    ['with the name of a token in upper case', () => [newPath('&ACCESS_TOKEN=x')]],
    ['with an undefined parameter', () => [newPath('&nonsense=1')]],
    ['with two clients', () => [newPath('&client%49D=closed')]],
    ['with a parameter behind ;', () => ['/brands?clientID=shop;clientID=closed']],
    ['for an object that there is not', () => ['/brands/none?clientID=shop']],
    ['for a path that there is not', () => ['/none?clientID=shop']],
    ['OPTIONS', () => [newPath(), {}, 'OPTIONS']],
    ['for the document', () => ['/openapi.json?clientID=shop']],
  ])('no answer is kept to a request %s', async (_, asked) => {
    const [path, sent, method] = asked();
    for (let times = 0; times < 2; times += 1) {
      const response = await get(path, sent, method);
      await response.text();
      expect(response.headers.get('x-cache')).not.toBe('HIT');
      expect(response.headers.get('cache-control')).toBe('private, no-cache');
    }
  });

  it('a request with a token waits, and nobody waits behind it', async () => {
    const path = '/brands?clientID=shop&limit=7';
    const etag = (await get(path)).headers.get('etag') ?? '';
    const token = { Authorization: headers.shop.Authorization ?? '' };
    const began = performance.now();
    const waiting = get(path, { ...token, 'If-None-Match': etag, Prefer: 'wait=3' });
    await sleep(200);
    expect(await statusOf(path)).toBe('200 HIT');
    expect(await statusOf(newPath())).toBe('200 MISS');
    expect(performance.now() - began).toBeLessThan(2500);
    const { headers: answered, status } = await waiting;
    expect([status, answered.get('preference-applied')]).toEqual([304, 'wait=3']);
    // Without a token it gets what there is.
    const sent = { 'If-None-Match': etag, Prefer: 'wait=30' };
    expect(await statusOf(path, sent)).toBe('304 HIT');
  });

  it('what one reader sends reaches no other', async () => {
    const path = newPath();
    const lines = `GET ${path} HTTP/1.1\r\nHost: evil.example.com\r\nX-Request-Id: me\r\nX-Forwarded-Host: evil.example.com\r\nRange: bytes=0-3\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\nOrigin: https://evil.example.com\r\nConnection: close\r\n\r\n`;
    const [first] = await rawRequest(Number(new URL(cache.address).port), lines);
    expect(first?.status).toBe(200);
    const other = await get(path);
    const text = await other.text();
    expect(other.headers.get('x-cache')).toBe('HIT');
    expect(text).toContain('"count":"1"');
    expect(JSON.stringify([...other.headers]) + text).not.toMatch(/evil|"me"|ratelimit/);
  });

  it('a client that is disabled stops within the promised time, while many ask', async () => {
    const path = newPath();
    expect(await statusOf(path)).toBe('200 MISS');
    await writer.query(`UPDATE clients SET disabled = true WHERE "clientID" = 'shop'`);
    await until(async () => (await get(path)).status === 403, KNOWN + KEPT + ASKED);
    for (let times = 0; times < 20; times += 1) {
      expect(await statusOf(path)).toMatch(/^403 (EXPIRED|MISS)$/);
      await sleep(50);
    }
    await writer.query(`UPDATE clients SET disabled = false WHERE "clientID" = 'shop'`);
    await until(async () => (await get(path)).status === 200, KNOWN);
  });

  it('an answer is not given any longer while the service cannot be reached', async () => {
    const path = newPath();
    expect(await statusOf(path)).toBe('200 MISS');
    await instance.kill();
    await until(async () => (await get(path)).status === 503, KEPT + ASKED);
    const response = await get(path);
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    expect(await response.json()).toMatchObject({ result: { status: 'ERROR', errcode: '-2' } });
  });
});
