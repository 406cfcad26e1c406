import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseClient, poolOptions } from '#server/database/database-client.js';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';
import { refusal, type Service, startService } from '../service.js';
import { eventually, until } from '../until.js';
import { Gate } from './gate.js';

let database: TestDatabase;
let gate: Gate;
let service: Service;

beforeAll(async () => {
  database = await createDatabase();
  gate = await Gate.before(database.url);
  service = await startService({
    DATABASE_URL: gate.url,
    QUERY_TIMEOUT_MS: '100',
    POOL_SIZE: '1',
  });
});
afterAll(async () => {
  await service.stop();
  await gate.shut();
  await database.drop();
});

it('A database that falls silent is -3 in time, and does not lock a client out', async () => {
  const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  // The first one may take longer on a busy machine.
  await eventually(() => service.get('/brands').expect(200));
  gate.silence();
  await service.get('/brands').expect(503, refusal(-3, 'The request took too long'));
  gate.speak();
  // The dead connection was closed, and a new one is opened.
  await service.get('/brands').expect(200);
  log.mockRestore();
});

it('A database that falls silent while its connections are idle is -3 in time, too', async () => {
  const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  await service.get('/brands').expect(200);
  // Longer than a query may take without a response.
  await sleep(1500);
  gate.silence();
  await service.get('/brands').expect(503, refusal(-3, 'The request took too long'));
  gate.speak();
  await service.get('/brands').expect(200);
  log.mockRestore();
});

it('A connection ends without waiting for a database that has fallen silent', async () => {
  const own = await Gate.before(database.url);
  const client = new DatabaseClient(poolOptions(own.url));
  await client.connect();
  own.silence();
  const ended = once(client, 'end');
  client.endNow();
  await ended;
  await own.shut();
});

it('A silent primary of replicas that are out of use is -2, and at once', async () => {
  for (const level of ['error', 'warn', 'log'] as const) {
    jest.spyOn(Logger.prototype, level).mockImplementation(() => undefined);
  }
  const own = await createDatabase();
  const primary = await Gate.before(own.url);
  // A server that is not a replica, so it is out of use.
  const other = await startService({
    DATABASE_URL: primary.url,
    DATABASE_REPLICA_URLS: own.url,
    QUERY_TIMEOUT_MS: '4000',
  });
  await other.get('/brands').expect(200);
  primary.silence();
  const unavailable = refusal(-2, 'The service is temporarily unavailable');
  await other.get('/brands').expect(503, unavailable);
  const began = performance.now();
  await other.get('/brands').expect(503, unavailable);
  await other.get('/brands/b').set('X-Client-ID', 'stranger').expect(503, unavailable);
  expect(performance.now() - began).toBeLessThan(4000);
  primary.speak();
  await until(async () => (await other.get('/brands')).status === 200);
  await other.stop();
  await primary.shut();
  await own.drop();
  jest.restoreAllMocks();
});
