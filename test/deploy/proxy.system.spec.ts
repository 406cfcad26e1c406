import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { connectedTo, createDatabase, type TestDatabase } from '#server/testing/database.js';
import { type Credentials, loadBrands } from '../database/load-brands.js';
import type { Instance } from '../faults/instance.js';
import { HalfOpenClient } from '../http/half-open-client.js';
import { splitResponses } from '../http/raw-request.js';
import { withTool } from '../tools.js';
import { until } from '../until.js';
import { exchange, type Refused, refusalsIn } from './exchange.js';
import { Fleet } from './fleet.js';
import { CLOSED, PASSED_ON, UNPARSED, WITH_BODY } from './hostile-requests.js';
import { HAPROXY, type Proxy, usesErrorFiles } from './proxy.js';

const { describe: describeWithProxy } = withTool(HAPROXY);

/** False before HAProxy 3.2.4, which closes the connection instead of sending an error file. */
const answersItself = usesErrorFiles();

const UNAVAILABLE: Refused = [503, '-2'];

describeWithProxy('Behind HAProxy, as the compose file has it,', () => {
  let database: TestDatabase;
  let headers: Credentials;
  let fleet: Fleet;
  /** An instance that keeps running, behind `proxy`. */
  let survivor: Instance;
  let proxy: Proxy;
  /** Holds the locks that keep a request waiting. */
  let blocker: Client;

  beforeAll(async () => {
    database = await createDatabase();
    headers = (await loadBrands(database.url, ['tester'], 0)).tester;
    blocker = await connectedTo(database.url);
    fleet = await Fleet.on(database.url);
    survivor = await fleet.start();
    proxy = await fleet.proxyBefore([survivor.host]);
    await proxy.untilReady(1);
  });
  afterAll(async () => {
    await fleet.end();
    await blocker.end();
    await database.drop();
  });

  const list = (port: number, offset = 0): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/brands?offset=${offset}`, { headers });

  const rawList = (): string => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return `GET /brands HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n`;
  };

  async function whileLocked(work: (unlock: () => Promise<unknown>) => Promise<void>) {
    await blocker.query('BEGIN; LOCK TABLE brands IN ACCESS EXCLUSIVE MODE');
    const unlock = () => blocker.query('ROLLBACK');
    await work(unlock).finally(unlock);
  }

  /** Waits until a number of requests wait for the lock. */
  async function untilWaiting(count: number): Promise<void> {
    await until(async () => {
      // In a transaction the view stays as it was at first.
      await blocker.query('SELECT pg_stat_clear_snapshot()');
      const { rowCount } = await blocker.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return (rowCount ?? 0) >= count;
    }, 5000);
  }

  it.each(PASSED_ON)('the service refuses %s', async (_, bytes, ...expected) => {
    const received = await exchange(proxy.port, bytes, expected.length);
    expect(refusalsIn(received)).toEqual(expected);
  });

  it.each(WITH_BODY)('HAProxy refuses %s, and closes', async (_, bytes, ...expected) => {
    const client = await HalfOpenClient.connect(proxy.port);
    client.write(bytes);
    const received = Buffer.from(await client.untilEndAsText(), 'latin1');
    expect(refusalsIn(received)).toEqual(expected);
    client.destroy();
  });

  it.each(UNPARSED)('HAProxy refuses %s', async (_, bytes, ...expected) => {
    const refusals = refusalsIn(await exchange(proxy.port, bytes));
    // Older versions of HAProxy parse some of these. The service then responds with the error.
    if (answersItself || refusals.length > 0) expect(refusals).toEqual(expected);
  });

  it.each(CLOSED)('HAProxy refuses or closes %s', async (_, bytes, ...expected) => {
    const refusals = refusalsIn(await exchange(proxy.port, bytes));
    if (refusals.length > 0) expect(refusals).toEqual(expected);
  });

  it('what cannot be parsed after a request is refused after its answer', async () => {
    const bytes = 'GET /nope HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n';
    const refusals = refusalsIn(await exchange(proxy.port, bytes, 2));
    expect(refusals).toEqual([[404, '-30'], ...(answersItself ? [[400, '-20']] : [])]);
  });

  it('headers that are larger than its buffer are refused', async () => {
    const bytes = `GET /products HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(100_000)}`;
    const [refused] = refusalsIn(await exchange(proxy.port, bytes));
    expect(refused?.[1]).toBe(answersItself ? '-34' : undefined);
  });

  it('a client is answered after all that', async () => {
    const began = performance.now();
    expect((await list(proxy.port)).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  it('what is never whole is refused, and what never begins is closed, when its time is over', async () => {
    const { port } = await fleet.proxyBefore([survivor.host], { 'http-request': '500ms' });
    const [nothing, ...halves] = await Promise.all(
      ['', 'GET /bra', 'GET /brands HTTP/1.1\r\nHost: a\r\n'].map(async (bytes) =>
        refusalsIn(await exchange(port, bytes)),
      ),
    );
    expect(nothing).toEqual([]);
    for (const half of halves) expect(half).toEqual(answersItself ? [[400, '-20']] : []);
  });

  it('an answer that does not come in time is -3', async () => {
    const slow = await fleet.proxyBefore([survivor.host], { server: '500ms' });
    await slow.untilReady(1);
    await whileLocked(async () => {
      const bytes = await exchange(slow.port, rawList());
      expect(refusalsIn(bytes)).toEqual([[503, '-3']]);
      expect(splitResponses(bytes).found[0]?.headers['retry-after']).toBe('5');
    });
  });

  it('with no instance every request is -2, at once and when HAProxy knows', async () => {
    const { port } = await fleet.proxyBefore([fleet.newHost()]);
    for (const delay of [0, 2000]) {
      // HAProxy checks twice a second. Its answers are the same before and after: nothing to poll.
      await sleep(delay);
      const answers = await Promise.all(
        [
          'GET /products HTTP/1.1\r\nHost: a\r\n\r\n',
          'GET /products HTTP/1.0\r\n\r\n',
          'POST /products HTTP/1.1\r\nHost: a\r\n\r\n',
          'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n',
        ].map((bytes) => exchange(port, bytes)),
      );
      for (const answer of answers) {
        expect(refusalsIn(answer)).toEqual([UNAVAILABLE]);
        const { headers: sent } = splitResponses(answer).found[0] ?? {};
        expect(sent).toMatchObject({ 'retry-after': '1', connection: 'close' });
      }
      const head = await fetch(`http://127.0.0.1:${port}/products`, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
        503,
        '91',
        '',
      ]);
    }
  });

  it('a request whose instance is killed is answered by another one', async () => {
    const victim = await fleet.start();
    const both = await fleet.proxyBefore([victim.host, survivor.host]);
    await both.untilReady(2);
    await whileLocked(async (unlock) => {
      // One request for each instance. Two that come at once can both get the same one.
      const answers = [list(both.port, 1)];
      await untilWaiting(1);
      answers.push(list(both.port, 2));
      await untilWaiting(2);
      await victim.kill();
      await untilWaiting(3);
      await unlock();
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
    });
  });

  it('a request whose only instance is killed is -2', async () => {
    const victim = await fleet.start();
    const single = await fleet.proxyBefore([victim.host]);
    await single.untilReady(1);
    await whileLocked(async () => {
      const answer = exchange(single.port, rawList());
      await untilWaiting(1);
      await victim.kill();
      expect(refusalsIn(await answer)).toEqual([UNAVAILABLE]);
    });
  });
});
