import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectedTo } from '#server/testing/database.js';
import { Random } from '#server/testing/random.js';
import { until } from '../until.js';
import { head, received, send } from './attacker.js';
import { answerOf, metric, startTarget, type Visit, visit } from './target.js';
import { shared } from '#server/testing/shared.js';

const target = shared(startTarget);
const sockets: Socket[] = [];

/** Expects status 200 each time, and within a second in one of three attempts. */
async function expectAnswer(ask: () => Promise<Visit>): Promise<void> {
  const times: number[] = [];
  while (times.length < 3 && !times.some((milliseconds) => milliseconds < 1000)) {
    const began = performance.now();
    const { status, body } = await ask();
    if (status !== 200) throw new Error(`${status}: ${body}`);
    times.push(performance.now() - began);
  }
  expect(Math.min(...times)).toBeLessThan(1000);
}

const expectService = () => expectAnswer(() => visit(target));
const expectReady = () =>
  expectAnswer(() => answerOf(fetch(`http://127.0.0.1:${target.adminPort}/health/ready`)));

beforeEach(expectService);
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.resetAndDestroy();
  await expectService();
  await until(async () => (await metric(target, 'catalogue_requests_in_work')) === 0);
  expect(target.child.exitCode).toBeNull();
});

async function flood(connections: number, bytes: string, port = target.port): Promise<void> {
  const opened = await Promise.all(Array.from({ length: connections }, () => send(port, bytes)));
  sockets.push(...opened);
}

describe('A reset', () => {
  it.each([
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
    [
      'an upgrade',
      'GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ],
    ['what the parser refuses', 'nonsense\r\n\r\n'],
    ['an expectation', 'GET /x HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n'],
    ['half a request', 'GET /x HTTP/1.1\r\nHo'],
    [
      'a request with CONNECT behind it',
      `${head('/brands')}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`,
    ],
  ])('after %s does not end the process', async (_, bytes) => {
    const random = new Random('resets');
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          const socket = await send(target.port, bytes);
          await sleep(random.number() * 3);
          socket.resetAndDestroy();
        }),
      );
    }
  });
});

describe('A connection that ends with pipelined requests in work', () => {
  it.each([
    ['reset', 1, 300, '/x'],
    ['closed', 1, 300, '/x'],
    ['reset', 20, 20, '/x'],
    ['closed', 20, 20, '/x'],
    ['reset', 6, 300, '/brands'],
    ['closed', 50, 20, '/products?limit=1000'],
  ])('gives their places back: %s, %i times %i %s', async (way, connections, requests, path) => {
    const bytes = head(path, target.headers.attacker).repeat(requests);
    const open = await metric(target, 'catalogue_connections_open');
    const opened = await Promise.all(
      Array.from({ length: connections }, () => send(target.port, bytes)),
    );
    // Interrupts while some requests are in work and others are not read yet.
    await sleep(5);
    for (const socket of opened) {
      if (way === 'reset') socket.resetAndDestroy();
      else socket.destroy();
    }
    // The server accepts connections in their order. It may say that it is busy with those.
    await visit(target);
    await until(async () => (await metric(target, 'catalogue_connections_open')) <= open);
    await until(async () => (await metric(target, 'catalogue_requests_in_work')) === 0);
  });
});

describe('Readers who read nothing', () => {
  it('hold no place with a large file of the documentation, and bounded memory', async () => {
    await flood(220, head('/docs/scalar/standalone.esm.js'));
    await expectService();
    await until(async () => (await metric(target, 'catalogue_requests_in_work')) === 0);
    await until(async () => (await metric(target, 'catalogue_undelivered_bytes')) < 70_000_000);
  });

  it('hold no place with four pipelined pages each', async () => {
    await flood(220, head('/products?limit=1000', target.headers.attacker).repeat(4));
    await until(async () => (await metric(target, 'catalogue_requests_in_work')) === 0, 20_000);
    await expectService();
    await until(async () => (await metric(target, 'catalogue_undelivered_bytes')) < 70_000_000);
  });
});

describe('One client', () => {
  it('leaves connections to the others while all its lists are slow', async () => {
    const blocker = await connectedTo(target.database.url);
    await blocker.query('BEGIN; LOCK TABLE products IN ACCESS EXCLUSIVE MODE');
    const bytes = (at: number) => head(`/products?offset=${at}`, target.headers.attacker);
    const opened = Array.from({ length: 24 }, (_, at) => send(target.port, bytes(at + 1)));
    sockets.push(...(await Promise.all(opened)));
    // By now, each request that gets a place has one.
    await sleep(300);
    const began = performance.now();
    let visits = 0;
    while (performance.now() - began < 4000) {
      await expectService();
      await expectReady();
      visits += 1;
    }
    // The slow lists take five seconds: queued behind them, there would be only one visit.
    expect(visits).toBeGreaterThan(3);
    await blocker.query('ROLLBACK');
    await blocker.end();
  });

  it('has a bound of its own on lists that are sent whole', async () => {
    const stream = { Accept: 'application/x-ndjson' };
    await flood(4, head('/products', { ...target.headers.attacker, ...stream }));
    await until(async () => (await metric(target, 'catalogue_streams_open')) === 2);
    const response = await fetch(`http://127.0.0.1:${target.port}/brands`, {
      headers: { ...target.headers.shop, ...stream },
    });
    expect(response.status).toBe(200);
    expect((await response.text()).split('\n')).toHaveLength(501);
  });
});

describe('Health and metrics', () => {
  it.each(['/health/ready', '/metrics'])(
    'stay there while 400 connections ask for %s',
    async (path) => {
      await flood(400, head(path).repeat(20), target.adminPort);
      for (let probe = 0; probe < 20; probe += 1) {
        await expectReady();
        await expectService();
      }
    },
  );
});

describe('A credential', () => {
  it.each([
    '/products&access_token=TOKEN',
    '/products%26access_token=TOKEN',
    '/products;access_token=TOKEN',
    '/products?access_token%3DTOKEN=1',
    '/products?fields=access_token%3DTOKEN',
  ])('is not echoed: %s', async (path) => {
    const token = target.headers.shop.Authorization?.split(' ')[1] ?? '';
    // In a path there are no other credentials by which the service could recognise the token.
    const credentials = path.includes('?') ? target.headers.shop : {};
    const request = head(path.replace('TOKEN', token), { ...credentials, Connection: 'close' });
    const text = await received(target.port, request);
    expect(text).toMatch(/^HTTP\/1.1 4\d\d /);
    expect(text).not.toContain(token);
  });

  it('ends the path of -30 at the first &', async () => {
    const text = await received(target.port, head('/nowhere&a=b&c', { Connection: 'close' }));
    expect(text).toContain('"msg":"There is no resource at /nowhere"');
  });
});

describe('A connection', () => {
  it('with CONNECT behind a whole list gets all of the list, then the refusal', async () => {
    const list = head('/products', { ...target.headers.shop, Accept: 'application/x-ndjson' });
    const text = await received(target.port, `${list}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1.1 200 OK/);
    const [, refusal = ''] = text.split('\r\n0\r\n\r\n');
    expect(refusal).toMatch(/^HTTP\/1.1 405 /);
  });

  it('that sends nothing is closed without an answer', async () => {
    expect(await received(target.port, '')).toBe('');
  });
});
