import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { rawRequest } from '../http/raw-request.js';
import { sentStatements } from '../sent-statements.js';
import { primaryPool } from '#server/private-api/database.js';
import { refusal, type Service, startService } from '../service.js';
import { shared } from '#server/testing/shared.js';
import { until } from '../until.js';
import { startWith } from './migrated.js';
import { SuppliersModule } from './supplier.fixture.js';

const service = shared(() => startWith(SuppliersModule));

beforeAll(async () => {
  await service.load('test_suppliers', [
    { supplierID: 'a', country: 'DE', rating: '4.50', active: true },
    { supplierID: 'b', country: 'FR', rating: null, active: false },
    { supplierID: 'c', country: null, rating: '4.5', active: true },
  ]);
  await service.dataSource.query(`UPDATE test_suppliers SET secret = 'hidden'`);
});

/** Nested arrays of a given depth. */
function nested(levels: number): unknown[] {
  return levels === 1 ? [] : [nested(levels - 1)];
}

const list = async (query: string) =>
  (await service.get(`/test_suppliers?${query}`).expect(200)).body.response_data;

describe('The list engine, on a resource that the service does not know', () => {
  it('shows exactly the public fields', async () => {
    const { objects } = await list('limit=1');
    expect(Object.keys(objects[0])).toEqual([
      'supplierID',
      'country',
      'rating',
      'active',
      'address',
      'createdAt',
      'updatedAt',
    ]);
    await service
      .get('/test_suppliers?fields=secret')
      .expect(
        400,
        refusal(
          -25,
          'The parameter fields must not name secret; it may name supplierID, country, rating, active, address, createdAt, updatedAt',
        ),
      );
  });

  it('lists objects and lists in JSON, and decimals below zero, as they were loaded', async () => {
    const address = { Straße: 'Öland "3" 🌳', at: [59.5, -17, [null, true, {}]], none: {} };
    const rows = [
      { supplierID: 'j1', address, rating: '-0.50' },
      { supplierID: 'j2', address: JSON.stringify([1, '2']) },
    ];
    await service.load('test_suppliers', rows);
    const { objects } = await list('supplierID=j1,j2&fields=supplierID,address,rating');
    expect(objects).toEqual([rows[0], { supplierID: 'j2', address: [1, '2'], rating: null }]);
    await service.dataSource.query(`DELETE FROM test_suppliers WHERE "supplierID" LIKE 'j%'`);
  });

  it.each([
    ['a text', '"text"'],
    ['a number', 5],
    ['no JSON', '{a: 1}'],
    ['a NUL', { text: 'a\0b' }],
    ['half a character', ['\ud800']],
    ['a key that is half a character', { '\udfff': 1 }],
    ['a number that has lost digits', { number: Number('12345678901234567890') }],
    ['too many levels', JSON.stringify(nested(101))],
    ['more levels than a stack has', '['.repeat(200_000) + ']'.repeat(200_000)],
  ])('refuses JSON that is %s', async (_, address) => {
    await expect(service.load('test_suppliers', [{ supplierID: 'k', address }])).rejects.toThrow(
      'Nothing was loaded: 1 problem',
    );
  });

  it('filters by numbers below zero where the column may have them', async () => {
    await service.load('test_suppliers', [{ supplierID: 'n', rating: '-2.5' }]);
    const { count } = await list('rated=-0');
    expect(await list('rated=-2.5')).toMatchObject({ count: String(Number(count) + 1) });
    expect(await list('rated=-2.49')).toMatchObject({ count });
    for (const value of ['-', '--1', '+1', '-.5', '1-', '-1e3']) {
      const { body } = await service.get(`/test_suppliers?rated=${encodeURIComponent(value)}`);
      expect([value, body.result]).toEqual([
        value,
        {
          status: 'ERROR',
          errcode: '-22',
          msg: 'The parameter rated must be a decimal number such as -19.99',
        },
      ]);
    }
    await service.dataSource.query(`DELETE FROM test_suppliers WHERE "supplierID" = 'n'`);
  });

  it.each([
    ['without a tally, which provides its version', `remove_tally('test_suppliers')`],
    [
      'with a tally that was replaced by one of fewer columns',
      `install_tally('test_suppliers', 'supplierID', '{active}')`,
    ],
  ])('is not served %s', async (_, change) => {
    const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await service.dataSource.query(`SELECT ${change}`);
    for (const query of ['', 'country=X', 'rated=1', 'sort=rating']) {
      await service.get(`/test_suppliers?${query}`).expect(500, refusal(-1, 'Internal error'));
    }
    await service.dataSource.query(
      `SELECT install_tally('test_suppliers', 'supplierID', '{country,active}')`,
    );
    await service.get('/test_suppliers').expect(200);
    log.mockRestore();
  });

  it('reads no column that was not asked for', async () => {
    const pool = primaryPool(service.dataSource);
    const query = jest.spyOn(pool, 'query');
    await list('fields=country');
    const [statement] = sentStatements(query);
    expect(statement?.text).toContain('"country"');
    expect(statement?.text).not.toContain('rating');
    query.mockRestore();
  });

  it('refuses every parameter on a route that declares none', async () => {
    await service.get('/test_suppliers/best').expect(200);
    await service
      .get('/test_suppliers/best?limit=1')
      .expect(400, refusal(-23, 'The parameter limit must not be present in this request'));
  });
});

describe('A fault', () => {
  it('of ours is -1, and its cause is in the log alone, under the request’s id', async () => {
    const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await service
      .get('/test_suppliers/broken')
      .set('X-Request-Id', 'mine')
      .expect(500, refusal(-1, 'Internal error'));
    expect(log.mock.calls[0]?.[0]).toBe('mine GET /test_suppliers/broken -1: secret of the house');
    expect(JSON.stringify(log.mock.calls)).not.toContain(service.token);
    log.mockRestore();
  });

  it('of the time that a query takes is -3', async () => {
    const slow = await startService({ QUERY_TIMEOUT_MS: '50', PAGE_CACHE_MB: '0' });
    const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await slow.dataSource.transaction(async (manager) => {
      await manager.query('SET LOCAL statement_timeout = 0');
      await manager.query('LOCK TABLE brands');
      await slow.get('/brands').expect(503, refusal(-3, 'The request took too long'));
    });
    log.mockRestore();
    await slow.stop();
  });

  it('of the database is -2, and over when it is back', async () => {
    const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const admin = await startService();
    const name = new URL(service.database.url).pathname.slice(1);
    const allow = (connections: boolean) =>
      admin.dataSource.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${connections}`);
    try {
      await allow(false);
      await admin.dataSource.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
        [name],
      );
      const away = refusal(-2, 'The service is temporarily unavailable');
      await service.get('/brands').expect(503, away);
      await service.get('/brands').expect(503, away);
      await allow(true);
      await service.get('/brands').expect(200);
    } finally {
      await allow(true);
      await admin.stop();
      log.mockRestore();
    }
  });
});

describe('Closing', () => {
  /** Waits until it accepts no connections. */
  async function untilClosing({ application }: Service): Promise<void> {
    const server = application.getHttpServer();
    await until(() => !server.listening);
  }

  function connections({ application }: Service): Promise<number> {
    const server = application.getHttpServer();
    return new Promise((resolve, reject) => {
      server.getConnections((error, count) => {
        if (error) reject(error);
        else resolve(count);
      });
    });
  }

  it('answers what is in work, and says that it was the last', async () => {
    const closing = await startService();
    const held = closing.dataSource.createQueryRunner();
    await held.startTransaction();
    await held.query('LOCK TABLE brands');
    const answer = closing.get('/brands').set('Connection', 'keep-alive').expect(200);
    const answered = answer.expect('Connection', 'close').then(() => undefined);
    const waiting = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await closing.dataSource.query<object[]>(waiting)).length === 1);
    await until(async () => (await connections(closing)) === 1);
    const stopped = closing.application.close();
    await untilClosing(closing);
    await held.rollbackTransaction();
    await held.release();
    await answered;
    await stopped;
    await closing.database.drop();
  });

  it('still answers what comes on an open connection, and closes it', async () => {
    const closing = await startService();
    const head =
      `GET /brands HTTP/1.1\r\nHost: a\r\nX-Client-ID: ${closing.clientID}\r\n` +
      `Authorization: Bearer ${closing.token}\r\n`;
    const responses = await rawRequest(closing.port, `${head}\r\n`, 2, async (socket) => {
      await once(socket, 'data');
      const stopped = closing.application.close();
      // Idle when the service began to close, and still heard.
      await untilClosing(closing);
      socket.write(`${head}\r\n`);
      await stopped;
    });
    expect(responses.map(({ status, headers }) => [status, headers.connection])).toEqual([
      [200, 'keep-alive'],
      [200, 'close'],
    ]);
    await closing.database.drop();
  });

  it('ends though a request is only half sent', async () => {
    const closing = await startService();
    const socket = connect(closing.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /prod');
    // The service does not show that it has read half a request.
    await sleep(100);
    await closing.application.close();
    await closing.database.drop();
  });
});
