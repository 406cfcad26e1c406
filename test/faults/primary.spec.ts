import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Primary } from '#server/database/primary.js';
import { ReadPool } from '#server/database/read-pool.js';
import { statement } from '#server/database/statement.js';
import { Maintenance } from '#server/list/maintenance.js';
import { migrateDatabase } from '../schema/declared.js';
import { refusal, type Service, startService } from '../service.js';
import { eventually } from '../until.js';
import { Gate } from './gate.js';
import { OwnServer } from './own-server.js';

/** A primary, and its standby, which a test promotes. Both can be written to then. */
let former: OwnServer;
let standby: OwnServer;
/** By which the service reaches its primary. */
let entrance: Gate;
let service: Service;
let primary: Primary;
let warnings: jest.Spied<Logger['warn']>;

beforeAll(async () => {
  former = await OwnServer.create();
  await migrateDatabase(former.url);
  standby = await former.replica();
  entrance = await Gate.before(former.url);
  service = await startService({
    DATABASE_URL: entrance.url,
    POOL_SIZE: '4',
    PAGE_CACHE_MB: '0',
  });
  primary = service.application.get(Primary);
});
afterAll(async () => {
  await service.stop();
  await entrance.shut();
  await standby.remove();
  await former.remove();
});
beforeEach(() => {
  warnings = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
});
afterEach(() => {
  warnings.mockRestore();
});

const PORT = statement(`SELECT current_setting('port') AS port, pg_sleep($1)::text`, {
  prepared: true,
});

/** The port of the server on which a request reads. */
async function portRead(seconds = 0): Promise<string> {
  const reads = service.application.get(ReadPool);
  const [row] = await reads.rows<{ port: string }>(PORT, [seconds]);
  return row?.port ?? '';
}

/** The ports of the servers on which a number of requests read, that use every connection. */
async function portsRead(): Promise<string[]> {
  return [...new Set(await Promise.all(Array.from({ length: 8 }, () => portRead(0.05))))];
}

it('A standby behind the address gets no requests, and open connections to the primary go on', async () => {
  await service.get('/brands').expect(200);
  entrance.redirect(standby.url);
  await expect(primary.check()).rejects.toThrow(/^The server 127\.0\.0\.1:\d+ is a standby$/);
  expect(primary.limitation).toBe('standby');
  await service.get('/brands').expect(200);
  entrance.cut();
  const unavailable = refusal(-2, 'The service is temporarily unavailable');
  await eventually(() => service.get('/brands').expect(503, unavailable));
  // Requests do not open a connection each, only to be refused.
  const { passed } = entrance;
  for (let requests = 0; requests < 5; requests += 1) await service.get('/brands').expect(503);
  expect(entrance.passed).toBe(passed);
  await service.anonymous().get('/health/ready').expect(503, {
    status: 'unavailable',
    reason: 'database',
    primary: 'standby',
  });
  entrance.redirect(former.url);
  await primary.check();
  await service.get('/brands').expect(200);
  await service.anonymous().get('/health/ready').expect(200, { status: 'ok' });
});

it('A primary that is read-only answers, and is ready', async () => {
  const setting = 'ALTER ROLE postgres SET default_transaction_read_only';
  await former.query(`${setting} = on`);
  await eventually(async () => {
    await primary.check();
    expect(primary.limitation).toBe('read-only');
  });
  await service.get('/brands').expect(200);
  await service
    .anonymous()
    .get('/health/ready')
    .expect(200, { status: 'ok', primary: 'read-only' });
  const writable = new URL(former.url);
  writable.searchParams.set('options', '-c default_transaction_read_only=off');
  // The connections of the service then begin with this, and keep it.
  const isReadOnly = async (): Promise<boolean> => {
    const [row] = await service.dataSource.query<[{ value: string }]>(
      `SELECT current_setting('default_transaction_read_only') AS value`,
    );
    return row.value === 'on';
  };
  expect(await isReadOnly()).toBe(true);
  await former.query(`${setting} = off`, writable.href);
  await eventually(async () => {
    await primary.check();
    expect(primary.limitation).toBeUndefined();
  });
  expect(await isReadOnly()).toBe(false);
});

it('Connections to a former primary are closed, and what they were reading is read again', async () => {
  const before = await portsRead();
  await standby.query('SELECT pg_promote()');
  entrance.redirect(standby.url);
  // The address alone changes nothing for open connections.
  expect(await portsRead()).toEqual(before);
  // Long enough for a slow machine to find the new primary before it ends.
  const reading = portRead(2);
  await sleep(100);
  // It checks the address at once, and then every two seconds.
  service.application.get(Maintenance).start();
  await eventually(() => {
    expect(primary.server?.timeline).toBe(2);
  });
  const present = [new URL(standby.url).port];
  expect(before).not.toEqual(present);
  expect(await portsRead()).toEqual(present);
  expect([await reading]).toEqual(present);
  await eventually(async () => {
    const [row] = await former.query<{ open: string }>(
      `SELECT count(*) AS open FROM pg_stat_activity WHERE application_name = 'catalogue'`,
    );
    expect(row?.open).toBe('0');
  });
  const { port } = new URL(standby.url);
  expect(warnings.mock.calls.flat().join()).toMatch(
    new RegExp(
      `The primary is now 127\\.0\\.0\\.1:${port}, database \\d+, timeline 2, started at `,
    ),
  );
});

it('A former primary is refused as long as the present one answers, and until six seconds after', async () => {
  entrance.redirect(former.url);
  const began = performance.now();
  // By the checks of maintenance: all other connections are open.
  await eventually(() => {
    expect(primary.limitation).toBe('former primary');
  });
  await expect(primary.check()).rejects.toThrow(/has timeline 1, but the primary has 2$/);
  expect(await portRead()).toBe(new URL(standby.url).port);
  const accepted = eventually(() => {
    expect(primary.server?.timeline).toBe(1);
  });
  const discarded: number[] = [];
  const runs = { succeeding: 0, failing: 0 };
  const succeeding = primary.read(
    async () => {
      runs.succeeding += 1;
      await accepted;
      return runs.succeeding;
    },
    (run) => Promise.resolve(discarded.push(run)).then(() => undefined),
  );
  const failing = primary.read(async () => {
    runs.failing += 1;
    await accepted;
    if (runs.failing === 1) throw new Error('The former one has gone');
    return runs.failing;
  });
  await accepted;
  // The last connection to the present one was at most one check ago.
  expect(performance.now() - began).toBeGreaterThan(3000);
  expect(await Promise.all([succeeding, failing])).toEqual([2, 2]);
  expect(discarded).toEqual([1]);
  expect(await portsRead()).toEqual([new URL(former.url).port]);
});
