import { afterAll, beforeAll, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { createDatabase, type TestDatabase } from '../database/database.js';
import { refusal, type Service, startService } from '../service.js';
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
  await service.get('/brands').expect(200);
  gate.silence();
  await service.get('/brands').expect(503, refusal(-3, 'The request took too long'));
  gate.speak();
  // The dead connection was closed, and a new one is opened.
  await service.get('/brands').expect(200);
  log.mockRestore();
});
