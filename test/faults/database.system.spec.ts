import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { migrateDatabase } from '../schema/declared.js';
import { Random } from '#server/testing/random.js';
import { refusal, type Service, startService } from '../service.js';
import { until } from '../until.js';
import { Gate } from './gate.js';
import { Load, type Outcome } from './load.js';
import { OwnServer } from './own-server.js';

/** Milliseconds after which all requests succeed again once the database is back. */
const RECOVERY = 2000;
const QUERY_TIMEOUT = 1000;
/** How often the server is killed under load. */
const KILLS = Number(process.env.DATABASE_KILLS ?? 3);

let server: OwnServer;
let gate: Gate;
let service: Service;
let load: Load;

beforeAll(async () => {
  for (const level of ['error', 'warn'] as const) {
    jest.spyOn(Logger.prototype, level).mockImplementation(() => undefined);
  }
  server = await OwnServer.create({ max_connections: '20' });
  await migrateDatabase(server.url);
  gate = await Gate.before(server.url);
  service = await startService({
    DATABASE_URL: gate.url,
    QUERY_TIMEOUT_MS: String(QUERY_TIMEOUT),
    PAGE_CACHE_MB: '0',
    POOL_SIZE: '4',
  });
  const brands = Array.from({ length: 200 }, (_, at) => ({
    brandID: `b${at}`,
    name: `Brand ${at}`,
  }));
  await service.load('brands', brands);
});
afterAll(async () => {
  await service.stop();
  await gate.shut();
  await server.remove();
  jest.restoreAllMocks();
});
afterEach(() => load.stop());

function start(): Load {
  load = new Load(
    8,
    [`http://127.0.0.1:${service.port}`],
    ['/brands?limit=20', '/brands?offset=50'],
    service.headers,
  );
  return load;
}

/** Expects no error responses from `RECOVERY` after the database was back. */
async function expectRecovery(back: number): Promise<void> {
  // Requests that begin in the last half second are checked, and more of them on a slow machine.
  await sleep(RECOVERY + 500);
  await until(() => load.since(back + RECOVERY).length > 10);
  const after = load.since(back + RECOVERY);
  expect(new Set(after.map(({ errcode }) => errcode))).toEqual(new Set(['0']));
}

function expectEnveloped(outcomes: readonly Outcome[], ...errcodes: string[]): void {
  expect(outcomes.filter(({ errcode }) => !['0', ...errcodes].includes(String(errcode)))).toEqual(
    [],
  );
  // At most the connect timeout, or the query timeout and the margin for a silent server.
  expect(Math.max(...outcomes.map(({ began, ended }) => ended - began))).toBeLessThan(7000);
}

it.each(['SIGINT', 'SIGQUIT', 'SIGKILL'] as const)(
  'A server ended by %s is -2, and nothing is left of that two seconds after it is back',
  async (signal) => {
    const { outcomes: begun } = start();
    await load.untilMore(50);
    await server.stop(signal);
    await until(() => begun.some(({ errcode }) => errcode === '-2'));
    // The duration of the fault.
    await sleep(1000);
    await server.start();
    await expectRecovery(performance.now());
    const outcomes = await load.stop();
    expectEnveloped(outcomes, '-2');
    expect(outcomes.some(({ errcode }) => errcode === '-2')).toBe(true);
  },
);

it('A server that is killed again and again leaves no request without an envelope', async () => {
  const random = new Random('kills');
  start();
  for (let at = 0; at < KILLS; at += 1) {
    await server.stop('SIGKILL');
    await server.start();
    await until(async () => (await service.get('/brands?limit=1')).status === 200, RECOVERY);
    await sleep(random.below(200));
  }
  await expectRecovery(performance.now());
  const outcomes = await load.stop();
  console.info(`${KILLS} kills, ${outcomes.length} requests`);
  expectEnveloped(outcomes, '-2');
});

it('A server that answers nothing is -3 in time', async () => {
  start();
  await load.untilMore(50);
  await server.signalAll('SIGSTOP');
  // Longer than every timeout of a request.
  await sleep(QUERY_TIMEOUT + 2000);
  await server.signalAll('SIGCONT');
  await expectRecovery(performance.now());
  const outcomes = await load.stop();
  // -4: all connections may be busy with such queries.
  expectEnveloped(outcomes, '-2', '-3', '-4');
  expect(outcomes.some(({ errcode }) => errcode === '-3')).toBe(true);
});

it('Connections that are cut, or lead nowhere, are made again', async () => {
  start();
  await load.untilMore(50);
  for (let at = 0; at < 10; at += 1) {
    gate.cut();
    await load.untilMore(10);
  }
  // The durations of the faults.
  gate.silence();
  await sleep(500);
  gate.speak();
  await gate.shut();
  await sleep(300);
  await gate.open();
  await expectRecovery(performance.now());
  expectEnveloped(await load.stop(), '-2', '-3');
});

it('A slow way to it is no fault', async () => {
  gate.slow(50);
  start();
  await load.untilMore(50);
  gate.slow(0);
  expectEnveloped(await load.stop());
});

it('A server out of connections is -2, until it has some again', async () => {
  const others = await hold(30);
  // The connections of the service are closed, and other clients take their slots. The server frees a slot
  // some time after its connection is closed, and the service may be first to take it.
  let roundsWithout = 0;
  await until(async () => {
    gate.cut();
    const taken = await hold(10);
    others.push(...taken);
    const { status } = await service.get('/brands?limit=1');
    roundsWithout = taken.length === 0 && status === 503 ? roundsWithout + 1 : 0;
    return roundsWithout === 3;
  });
  start();
  await load.untilMore(10);
  const meanwhile = load.outcomes.length;
  await Promise.all(others.map((other) => other.end()));
  await expectRecovery(performance.now());
  const outcomes = await load.stop();
  expectEnveloped(outcomes, '-2');
  expect(meanwhile).toBeGreaterThan(0);
  expect(outcomes[0]?.errcode).toBe('-2');
});

it('A server that is read-only serves all the same', async () => {
  await server.query('ALTER SYSTEM SET default_transaction_read_only = on');
  await server.query('SELECT pg_reload_conf()');
  gate.cut();
  start();
  await load.untilMore(100);
  const outcomes = await load.stop();
  const own = new URL(server.url);
  own.searchParams.set('options', '-c default_transaction_read_only=off');
  await server.query('ALTER SYSTEM RESET default_transaction_read_only', own.href);
  await server.query('SELECT pg_reload_conf()', own.href);
  expect(outcomes.length).toBeGreaterThan(50);
  expectEnveloped(outcomes.slice(20));
});

it('A server that says its disk is full is -2', async () => {
  start();
  // The error of PostgreSQL for a full disk, raised by a query.
  await server.query(`
    ALTER TABLE brands RENAME TO kept;
    CREATE FUNCTION full_disk() RETURNS varchar LANGUAGE plpgsql AS
      $$BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END$$;
    CREATE VIEW brands AS SELECT full_disk() AS "brandID", name, "createdAt", "updatedAt" FROM kept;
  `);
  await until(() => load.outcomes.some(({ errcode }) => errcode === '-2'));
  const response = await service.get('/brands?offset=3').expect(503);
  expect(response.body).toEqual(refusal(-2, 'The service is temporarily unavailable'));
  await server.query(
    'DROP VIEW brands; DROP FUNCTION full_disk; ALTER TABLE kept RENAME TO brands',
  );
  await expectRecovery(performance.now());
  expectEnveloped(await load.stop(), '-2', '-4');
});

/** Takes up to so many connections of the server, as many as it gives. */
async function hold(most: number): Promise<Client[]> {
  const held: Client[] = [];
  for (let at = 0; at < most; at += 1) {
    const client = new Client(server.url);
    client.on('error', () => undefined);
    try {
      await client.connect();
      held.push(client);
    } catch {
      break;
    }
  }
  return held;
}
