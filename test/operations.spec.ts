import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { connectedTo } from '#server/testing/database.js';
import { primaryPool } from '#server/private-api/database.js';
import { errors } from '#server/http/errors.js';
import { connectionLimits } from '#server/http/server/connections.js';
import { Maintenance } from '#server/list/maintenance.js';
import { OperatorEndpoints } from '#server/operations/operator-endpoints.js';
import { ServiceLogger } from '#server/operations/log.js';
import { VERSION } from '#server/package.js';
import { head, send } from './attacks/attacker.js';
import { rawRequest } from './http/raw-request.js';
import { refusal, type Service, sharedService, startService } from './service.js';
import { until } from './until.js';

const service = sharedService({ POOL_SIZE: '1', MAX_REQUESTS_PER_CLIENT: '20' });

describe('Health', () => {
  it('is available without credentials', async () => {
    for (const path of ['/health/live', '/health/ready']) {
      const response = await service.anonymous().get(path).expect(200, { status: 'ok' });
      expect(response.headers['cache-control']).toBe('no-store');
      await service
        .anonymous()
        .post(path)
        .expect('Allow', 'GET, HEAD')
        .expect(405, refusal(-32, 'The method POST is not allowed for this resource'));
    }
    await service.anonymous().get('/health/nonsense').expect(404);
  });

  it('has the headers of every response, and the envelope for what is malformed', async () => {
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      const { headers } = await service
        .anonymous()
        .get(path)
        .set('X-Request-Id', 'mine')
        .expect(200);
      expect(headers).toMatchObject({
        'x-request-id': 'mine',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'cache-control': 'no-store',
      });
      for (const head of ['Host: a\r\nHost: b', 'Host: a\r\nExpect: tea']) {
        const bytes = `GET ${path} HTTP/1.1\r\n${head}\r\n\r\n`;
        const [response] = await rawRequest(service.port, bytes);
        expect(response?.status).toBe(400);
        expect(JSON.parse(response?.body ?? '')).toEqual(refusal(-20, 'The request is malformed'));
      }
    }
  });

  it('is not ready with a schema that is not up to date, nor without a database', async () => {
    const other = await startService();
    const [newest] = await other.dataSource.query<{ name: string }[]>(
      'DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations) RETURNING name, timestamp',
    );
    expect(newest).toBeDefined();
    const ready = () => other.anonymous().get('/health/ready');
    await ready().expect(503, { status: 'unavailable', reason: 'migrations' });
    await other.database.drop();
    await ready().expect(503, { status: 'unavailable', reason: 'database' });
    await other.anonymous().get('/health/live').expect(200);
    await other.stop();
  });

  it('is not ready while it drains', async () => {
    const other = await startService();
    other.application.get(OperatorEndpoints).drain();
    await other
      .anonymous()
      .get('/health/ready')
      .expect(503, { status: 'unavailable', reason: 'draining' });
    await other.get('/brands').expect(200);
    await other.stop();
  });
});

describe('Metrics', () => {
  it('report requests by route and status, rows and errors', async () => {
    await service.load('brands', [
      { brandID: 'a', name: 'A' },
      { brandID: 'b', name: 'B' },
    ]);
    await service.get('/brands').expect(200);
    await service.get('/brands').expect(200);
    await service.get('/brands/a').expect(200);
    await service.get('/brands?nonsense=1').expect(400);
    const text = await metrics(service);
    const count = 'catalogue_request_duration_seconds_count';
    // The second page was sent from memory.
    expect(text).toContain(`${count}{route="/brands",status="200",plan="facet"} 1`);
    expect(text).toContain(`${count}{route="/brands",status="200",plan="none"} 1`);
    expect(text).toContain(`${count}{route="/brands/:brandID",status="200",plan="none"} 1`);
    expect(text).toContain('catalogue_rows_served_total 5');
    expect(text).toContain('catalogue_refusals_total{errcode="-23"} 1');
    expect(text).toMatch(/^catalogue_pool_connections\{server="primary"\} [1-9]/m);
    expect(text).toMatch(/^process_resident_memory_bytes /m);
  });

  it('tell the build, the hits of the page cache, the age of the watermark and the deltas', async () => {
    const own = await startService();
    const value = async (name: string) =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics(own))?.[1]);
    expect(await metrics(own)).toContain(
      `catalogue_build_info{version="${VERSION}",node="${process.versions.node}"} 1\n`,
    );
    expect(await value('catalogue_watermark_age_seconds')).toBeNaN();
    for (let at = 0; at < 3; at += 1) await own.get('/brands').expect(200);
    await until(async () => (await value('catalogue_page_cache_hits_total')) === 2);
    expect(await value('catalogue_page_cache_misses_total')).toBe(1);
    expect(await value('catalogue_page_cache_bytes')).toBeGreaterThan(100);
    await own.load('brands', [{ brandID: 'a', name: 'A' }]);
    const keeper = own.application.get(Maintenance);
    keeper.start();
    const waiting = () => value('catalogue_tally_deltas_waiting\\{resource="brands"\\}');
    await until(async () => (await waiting()) > 0);
    await until(async () => (await value('catalogue_tally_rounds_total')) > 1);
    expect(await metrics(own)).toContain('# TYPE catalogue_tally_rounds_total counter\n');
    expect(await metrics(own)).toContain('catalogue_tally_rounds_failed_total 0\n');
    // The margin of a second, and the time between two rounds.
    await until(async () => (await value('catalogue_watermark_age_seconds')) < 5);
    expect(await value('catalogue_watermark_age_seconds')).toBeGreaterThan(0.5);
    await until(async () => (await waiting()) === 0);
    await own.stop();
  });

  it('have every errcode from the start, so that its first error is an increase', async () => {
    const own = await startService();
    const lines = (await metrics(own)).match(/^catalogue_refusals_total.*$/gm) ?? [];
    const codes = Object.values(errors).map(({ errcode }) => errcode);
    expect(lines).toEqual(codes.map((code) => `catalogue_refusals_total{errcode="${code}"} 0`));
    await own.stop();
  });

  it('tell how many connections are open, of how many', async () => {
    const value = async (name: string) =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics(service))?.[1]);
    const before = await value('catalogue_connections_open');
    const idle = Array.from({ length: 5 }, () => connect(service.port, '127.0.0.1'));
    await until(async () => (await value('catalogue_connections_open')) >= before + 4);
    for (const socket of idle) socket.destroy();
    expect(await value('catalogue_connections_limit')).toBe(connectionLimits(1).service);
  });

  it('have no label that a client chooses', async () => {
    for (const path of ['/mine-1', '/brands/mine-2', '/brands?mine-3=1', '/brands?name=mine-4']) {
      await service.get(path).set('X-Request-Id', 'mine-5').set('User-Agent', 'mine-6');
    }
    expect(await metrics(service)).not.toContain('mine');
  });
});

describe('Requests in work', () => {
  it('are bounded: one more is refused at once, with -4 and Retry-After', async () => {
    const blocker = await connectedTo(service.database.url);
    await blocker.query('BEGIN; LOCK TABLE brands IN ACCESS EXCLUSIVE MODE');
    const waiting = Array.from({ length: 10 }, (_, at) =>
      service.get(`/brands?offset=${100 + at}`).then(({ status }) => status),
    );
    await until(async () => (await blocked(blocker)) > 0);
    // The first of them is in the database, and the others have come.
    await until(async () => (await metrics(service)).includes('catalogue_requests_in_work 10\n'));
    const response = await service.get('/brands?offset=99').timeout(3000).expect(503);
    expect(response.body).toEqual(refusal(-4, 'The service is busy'));
    expect(response.headers['retry-after']).toBe('1');
    await service.anonymous().get('/health/live').expect(200);
    await blocker.query('ROLLBACK');
    await blocker.end();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([200]));
  });

  it.each([
    ['reset', 0, 200],
    // They are noticed when their answers are written.
    ['closed', 10, 300],
  ])(
    'are bounded also where their clients have %s their connections',
    async (way, inWork, offset) => {
      const blocker = await connectedTo(service.database.url);
      await blocker.query('BEGIN; LOCK TABLE brands IN ACCESS EXCLUSIVE MODE');
      for (let batch = 0; batch < 4; batch += 1) {
        const given = Array.from({ length: 15 }, (_, at) =>
          send(service.port, head(`/brands?offset=${offset + 15 * batch + at}`, service.headers)),
        );
        const sockets = await Promise.all(given);
        await sleep(200);
        for (const socket of sockets) {
          if (way === 'reset') socket.resetAndDestroy();
          else socket.destroy();
        }
      }
      const line = `catalogue_requests_in_work ${inWork}\n`;
      await until(async () => (await metrics(service)).includes(line));
      const pool = primaryPool(service.dataSource);
      expect(pool.waitingCount).toBeLessThanOrEqual(20);
      // Their queries still wait for the database.
      await service
        .get(`/brands?offset=${offset - 1}`)
        .timeout(3000)
        .expect(503);
      await blocker.query('ROLLBACK');
      await blocker.end();
      await until(async () => (await service.get(`/brands?offset=${offset}`)).status === 200);
      await until(async () => (await metrics(service)).includes('catalogue_requests_in_work 0\n'));
      expect(pool.waitingCount).toBe(0);
    },
  );

  async function blocked(client: Client): Promise<number> {
    // Within a transaction, the statistics views do not change without this.
    await client.query('SELECT pg_stat_clear_snapshot()');
    const { rowCount } = await client.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rowCount ?? 0;
  }
});

describe('The log', () => {
  const written: string[] = [];
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('has a line for each request, and a token never', async () => {
    const logged = await startService({ LOG_LEVEL: 'info' });
    jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
    const { token } = logged;
    await logged.get('/brands?limit=3').set('X-Request-Id', 'mine').expect(200);
    for (const path of [
      `/brands?access_token=${token}`,
      `/brands/${token}`,
      `/${token}`,
      `/brands?${token}=1`,
      `/brands?limit=${token}`,
    ]) {
      await logged.get(path);
      await logged.get(path).set('X-Request-Id', token);
      await logged.anonymous().get(`${path}&access_token=${token}`).set('X-Request-Id', token);
    }
    await logged.stop();
    await until(() => Promise.resolve(written.join('').split('\n').length > 16));
    const lines = written.join('').split('\n').filter(Boolean);
    expect(lines).toHaveLength(16);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      timestamp: expect.any(Number),
      context: 'Request',
      requestId: 'mine',
      method: 'GET',
      route: '/brands',
      client: 'tester',
      status: 200,
      errcode: '0',
      milliseconds: expect.any(Number),
      rows: 0,
    });
    expect(written.join('')).not.toContain(token);
  });

  it('has a line for each slow request, with the names of its parameters and no values', async () => {
    written.length = 0;
    const logged = await startService({ LOG_LEVEL: 'warn', SLOW_LIST_MS: '300' });
    jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
    const blocker = await connectedTo(logged.database.url);
    await blocker.query('BEGIN; LOCK TABLE brands IN ACCESS EXCLUSIVE MODE');
    const credentials = `clientID=${logged.clientID}&access_token=${logged.token}`;
    const slow = logged.anonymous().get(`/brands?limit=3&${credentials}&name=secret`);
    const answered = slow.expect(200);
    await Promise.all([answered, sleep(500).then(() => blocker.query('ROLLBACK'))]);
    await logged.get('/brands').expect(200);
    await logged.get('/brands?nonsense=1').expect(400);
    await blocker.end();
    await logged.stop();
    await until(() => written.join('').includes('\n'));
    const lines = written.join('').split('\n').filter(Boolean);
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      {
        level: 'warn',
        timestamp: expect.any(Number),
        context: 'Slow',
        requestId: expect.any(String),
        route: '/brands',
        parameters: ['limit', 'name'],
        plan: 'ordered',
        countedBy: 'index',
        client: 'tester',
        rows: 0,
        errcode: '0',
        milliseconds: expect.any(Number),
      },
    ]);
    expect(written.join('')).not.toContain('secret');
  });

  it('calls its levels as LOG_LEVEL does', () => {
    jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
    written.length = 0;
    const logger = new ServiceLogger('info');
    logger.log('one', 'Here');
    logger.warn('two', 'Here');
    logger.debug('three', 'Here');
    expect(written.map((line): unknown => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 'info', message: 'one', context: 'Here' }),
      expect.objectContaining({ level: 'warn', message: 'two' }),
    ]);
  });
});

async function metrics(of: Service): Promise<string> {
  return (await of.anonymous().get('/metrics').expect(200)).text;
}
