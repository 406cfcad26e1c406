import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { connectedTo } from '#server/testing/database.js';
import { until } from '../until.js';
import { head, send } from './attacker.js';
import { metric, startTarget, type Target, untilNothingHeld, visit } from './target.js';

/** However a request ends, it releases the resources that it holds. */

let target: Target;
let blocker: Client;

beforeAll(async () => {
  target = await startTarget({ QUERY_TIMEOUT_MS: '1500', STREAM_TIMEOUT_MS: '1000' });
  blocker = await connectedTo(target.database.url);
});
afterAll(async () => {
  await blocker.end();
  await target.stop();
});

async function expectNothingHeld(): Promise<void> {
  await untilNothingHeld(target, 15_000);
  expect((await visit(target)).status).toBe(200);
  expect(target.child.exitCode).toBeNull();
}

const ndjson = { Accept: 'application/x-ndjson' };
const whole = (headers: Record<string, string>) => head('/products', { ...headers, ...ndjson });

/** The bytes that a connection sends. Each entry leaves requests in another state. */
const REQUESTS: [name: string, bytes: (headers: Record<string, string>) => string][] = [
  ['a page', (headers) => head('/products?limit=1000', headers)],
  ['pipelined pages', (headers) => head('/products?limit=1000', headers).repeat(30)],
  ['a stream', whole],
  ['a compressed stream', (headers) => whole({ ...headers, 'Accept-Encoding': 'gzip' })],
  ['a stream behind a page', (headers) => head('/products?limit=1000', headers) + whole(headers)],
  ['a page behind a stream', (headers) => whole(headers) + head('/products?limit=1000', headers)],
  ['refusals', (headers) => head('/nowhere', headers).repeat(30)],
  [
    'wrong credentials',
    () => head('/brands', { 'X-Client-ID': 'a', Authorization: 'Bearer b' }).repeat(9),
  ],
  ['a large file', () => head('/docs/scalar/standalone.esm.js').repeat(3)],
  [
    'CONNECT behind a page',
    (headers) => `${head('/products', headers)}CONNECT a:1 HTTP/1.1\r\n\r\n`,
  ],
  ['nonsense behind a page', (headers) => `${head('/products', headers)}nonsense\r\n\r\n`],
  ['half a request behind a page', (headers) => `${head('/products', headers)}GET /pro`],
  [
    'a body that never comes',
    (headers) => head('/products', { ...headers, 'Content-Length': '9' }),
  ],
  ['an expectation', (headers) => head('/products', { ...headers, Expect: 'tea' })],
];

/** How the connection ends. */
const ENDS: [name: string, end: (socket: Socket) => Promise<unknown>][] = [
  ['is read to its end', (socket) => sleep(500, socket.resume())],
  ['is reset', (socket) => Promise.resolve(socket.resetAndDestroy())],
  ['is closed', (socket) => Promise.resolve(socket.destroy())],
  ['is half closed', (socket) => sleep(200, socket.end())],
  ['is reset later', (socket) => sleep(300).then(() => socket.resetAndDestroy())],
];

it.each(ENDS)('Nothing is held of a connection that %s', async (_, end) => {
  const { attacker, shop } = target.headers;
  for (const [at, [, bytes]] of REQUESTS.entries()) {
    const headers = at % 2 === 0 ? attacker : shop;
    const sockets = await Promise.all(
      Array.from({ length: 5 }, () => send(target.port, bytes(headers))),
    );
    await Promise.all(sockets.map((socket) => end(socket)));
    for (const socket of sockets) socket.destroy();
  }
  await expectNothingHeld();
});

it('Nothing is held of queries that run past their time, with their readers there or gone', async () => {
  await blocker.query('BEGIN; LOCK TABLE products IN ACCESS EXCLUSIVE MODE');
  const sockets = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      send(target.port, head(`/products?offset=${at}`, target.headers.attacker).repeat(2)),
    ),
  );
  // By now, each request that gets a place waits for the lock.
  await sleep(300);
  for (const socket of sockets.slice(0, 10)) socket.resetAndDestroy();
  // Longer than the timeout of a query.
  await sleep(3000);
  await blocker.query('ROLLBACK');
  for (const socket of sockets) socket.destroy();
  await expectNothingHeld();
});

it('Nothing is held of a stream that is cut off after its longest time', async () => {
  const socket = await send(target.port, whole(target.headers.attacker));
  await until(async () => (await metric(target, 'catalogue_streams_open')) === 1);
  await until(async () => (await metric(target, 'catalogue_streams_open')) === 0, 5000);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).resume();
  await until(() => socket.closed);
  expect(text).toMatch(/^HTTP\/1.1 200 OK/);
  expect(text).not.toMatch(/\r\n0\r\n\r\n$/);
  await expectNothingHeld();
});
