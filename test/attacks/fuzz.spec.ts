import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { head, send } from './attacker.js';
import { descriptors, startTarget, type Target, untilNothingHeld, visit } from './target.js';

const REQUESTS = Number(process.env.FUZZED_REQUESTS ?? 3000);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);
/** Connections that are open at a time. */
const CONCURRENCY = 40;

let target: Target;
beforeAll(async () => {
  target = await startTarget();
}, 120_000);
afterAll(() => target.stop());

/** A generator of numbers from 0 up to 1 that a seed repeats: mulberry32. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const number = random(SEED);
const pick = <T>(values: readonly T[]): T => values[Math.floor(number() * values.length)] as T;

/** Answers of a megabyte, which are asked for less often. */
const LARGE_TARGETS = ['/products?limit=1000', '/docs/swagger-ui-bundle.js'];
const TARGETS = [
  '/products',
  '/products?limit=3&offset=29000&sort=name',
  '/products/p77',
  '/brands?name=Brand%207',
  '/brands?nonsense=1',
  '/brands?limit=x',
  '/nowhere',
  '/%',
  '/openapi.json',
  '/docs/style.css',
  '/deletions/brands?deletedSince=2026-01-01T00:00:00Z',
];

/** Bytes of one request, most of them well-formed, and whether the connection ends with it. */
function request(): string {
  const headers: Record<string, string> = { ...pick(Object.values(target.headers)) };
  if (number() < 0.1) headers.Accept = pick(['application/x-ndjson', 'text/csv', '*/*']);
  if (number() < 0.1) headers['Accept-Encoding'] = pick(['br', 'gzip', 'identity']);
  if (number() < 0.03) headers.Authorization = 'Bearer nonsense';
  if (number() < 0.03) headers.Expect = pick(['tea', '100-continue']);
  if (number() < 0.03) headers['Content-Length'] = '5';
  if (number() < 0.03) headers.Upgrade = 'websocket';
  const text = head(pick(number() < 0.02 ? LARGE_TARGETS : TARGETS), headers);
  const kind = number();
  if (kind < 0.02) return `CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`;
  if (kind < 0.04) return text.slice(0, Math.floor(number() * text.length));
  if (kind < 0.06) return text.replace('GET', pick(['HEAD', 'OPTIONS', 'POST', 'get', '\0']));
  return text;
}

/** Sends some requests on a connection and ends it in one of many ways; gives how many. */
async function connection(): Promise<number> {
  const count = pick([1, 1, 1, 2, 5, 20, 100]);
  const bytes = Array.from({ length: count }, request).join('');
  const socket = await send(target.port, bytes);
  await pick(ENDS)(socket);
  socket.destroy();
  return count;
}

const moment = () => sleep(number() * 30);
const ENDS: ((socket: Socket) => Promise<unknown> | Socket)[] = [
  (socket) => socket.resetAndDestroy(),
  async (socket) => {
    await moment();
    socket.resetAndDestroy();
  },
  async (socket) => {
    await moment();
    socket.end();
    await moment();
  },
  async (socket) => {
    socket.resume();
    await moment();
  },
  async (socket) => {
    socket.resume();
    await moment();
    socket.pause();
    await moment();
  },
  moment,
];

/** Megabytes that the process has in memory. */
function memory(): number {
  const status = readFileSync(`/proc/${target.child.pid ?? ''}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Sends requests from many connections at a time until there are as many as asked for. */
async function fuzz(requests: number): Promise<number> {
  let sent = 0;
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (sent < requests) sent += await connection();
    }),
  );
  return sent;
}

it(`Fuzzed requests leave nothing behind (FUZZ_SEED=${SEED})`, async () => {
  await fuzz(REQUESTS / 5);
  await settled();
  const before = { memory: memory(), descriptors: descriptors(target) };
  const sent = await fuzz(REQUESTS);
  await settled();
  const after = { memory: memory(), descriptors: descriptors(target) };
  console.info(`${sent} requests, seed ${SEED}: ${JSON.stringify({ before, after })}`);
  expect(target.child.exitCode).toBeNull();
  expect(target.output()).not.toMatch(/Uncaught|Unhandled|Internal error/);
  // Connections to the database come and go; those of clients are gone.
  expect(after.descriptors).toBeLessThanOrEqual(before.descriptors + 15);
  expect(after.memory).toBeLessThan(before.memory + 150);
}, 1_800_000);

/** Waits until every connection is closed and what was in work has ended. */
async function settled(): Promise<void> {
  await untilNothingHeld(target, 30_000);
  const { status } = await visit(target);
  expect(status).toBe(200);
}
