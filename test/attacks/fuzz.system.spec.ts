import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random, SEED } from '#server/testing/random.js';
import { until } from '../until.js';
import { head, send } from './attacker.js';
import { descriptors, startTarget, untilNothingHeld, visit } from './target.js';
import { shared } from '#server/testing/shared.js';

const REQUESTS = Number(process.env.FUZZED_REQUESTS ?? 20_000);
/** Connections that are open at a time. */
const CONCURRENCY = 40;

const target = shared(startTarget);

/** Answers of a megabyte, which are asked for less often. */
const LARGE_TARGETS = ['/products?limit=1000', '/docs/scalar/standalone.esm.js'];
const TARGETS = [
  '/products',
  '/products?limit=3&offset=29000&sort=name',
  '/products/p77',
  '/brands?name=Brand%207',
  '/facets/products?type=DIGITAL&priceMin=5',
  '/facets/products?facets=price&bounds=5,50&type=DIGITAL',
  '/brands?nonsense=1',
  '/brands?limit=x',
  '/nowhere',
  '/%',
  '/openapi.json',
  '/docs/style.css',
  '/changes?resources=brands',
];

/** Bytes of one request, most of them well-formed, and whether the connection ends with it. */
function request(random: Random): string {
  const headers: Record<string, string> = { ...random.pick(Object.values(target.headers)) };
  if (random.chance(0.1)) headers.Accept = random.pick(['application/x-ndjson', 'text/csv', '*/*']);
  if (random.chance(0.1)) headers['Accept-Encoding'] = random.pick(['br', 'gzip', 'identity']);
  if (random.chance(0.03)) headers.Authorization = 'Bearer nonsense';
  if (random.chance(0.03)) headers.Expect = random.pick(['tea', '100-continue']);
  if (random.chance(0.03)) headers['Content-Length'] = '5';
  if (random.chance(0.03)) headers.Upgrade = 'websocket';
  const text = head(random.pick(random.chance(0.02) ? LARGE_TARGETS : TARGETS), headers);
  const kind = random.number();
  if (kind < 0.02) return `CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`;
  if (kind < 0.04) return text.slice(0, random.below(text.length));
  if (kind < 0.06)
    return text.replace('GET', random.pick(['HEAD', 'OPTIONS', 'POST', 'get', '\0']));
  return text;
}

/** Sends some requests on a connection and ends it in one of many ways; gives how many. */
async function connection(random: Random): Promise<number> {
  const count = random.pick([1, 1, 1, 2, 5, 20, 100]);
  const bytes = Array.from({ length: count }, () => request(random)).join('');
  const socket = await send(target.port, bytes);
  await random.pick(ENDS)(socket, () => sleep(random.number() * 30));
  socket.destroy();
  return count;
}

const ENDS: ((socket: Socket, moment: () => Promise<unknown>) => Promise<unknown> | Socket)[] = [
  (socket) => socket.resetAndDestroy(),
  async (socket, moment) => {
    await moment();
    socket.resetAndDestroy();
  },
  async (socket, moment) => {
    await moment();
    socket.end();
    await moment();
  },
  async (socket, moment) => {
    socket.resume();
    await moment();
  },
  async (socket, moment) => {
    socket.resume();
    await moment();
    socket.pause();
    await moment();
  },
  (_, moment) => moment(),
];

/** Resident memory of the process in megabytes. */
function memory(): number {
  const status = readFileSync(`/proc/${target.child.pid ?? ''}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Sends requests from many connections at a time until there are as many as asked for. */
async function fuzz(part: string, requests: number): Promise<number> {
  let sent = 0;
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async (_, at) => {
      const random = new Random(`${part} ${at}`);
      while (sent < requests) {
        const count = await connection(random);
        sent += count;
      }
    }),
  );
  return sent;
}

it(`Fuzzed requests leave nothing behind (TEST_SEED=${SEED})`, async () => {
  await fuzz('first', REQUESTS / 5);
  await settled();
  const before = { memory: memory(), descriptors: descriptors(target) };
  const sent = await fuzz('then', REQUESTS);
  await settled();
  const after = { memory: memory(), descriptors: descriptors(target) };
  console.info(`${sent} requests, seed ${SEED}: ${JSON.stringify({ before, after })}`);
  expect(target.child.exitCode).toBeNull();
  expect(target.output()).not.toMatch(/Uncaught|Unhandled|Internal error/);
  // All client connections are closed. The number of database connections varies.
  expect(after.descriptors).toBeLessThanOrEqual(before.descriptors + 15);
  // V8 collects what is garbage as more is asked for.
  await until(async () => {
    await visit(target);
    return memory() < before.memory + 150;
  }, 120_000);
}, 1_800_000);

/** Waits until all requests have ended and their connections are closed. */
async function settled(): Promise<void> {
  // Connections are accepted in their order, so that this one comes after all that were sent.
  const { status } = await visit(target, undefined, 60_000);
  expect(status).toBe(200);
  await untilNothingHeld(target, 30_000);
}
