import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import type { Pool } from 'pg';
import { primaryPool } from '#server/private-api/database.js';
import type { Observation } from '#server/http/observation.js';
import type { EnvelopedExpressAdapter } from '#server/http/server/enveloped-express.adapter.js';
import { StreamLimit } from '#server/list/serving/read-limit.js';
import { StreamServer } from '#server/list/serving/stream-server.js';
import { refusal, sharedService } from '../service.js';
import { until } from '../until.js';

const COUNT = 12_000;
const service = sharedService({ POOL_SIZE: '4' });

beforeAll(async () => {
  for (let from = 1; from <= COUNT; from += 2000) {
    await service.dataSource.query(
      `INSERT INTO products ("productID", type, name, description, stock)
       SELECT 'p' || lpad(i::text, 6, '0'), 'PHYSICAL', 'Product ' || i, repeat('x', 1000), -i
       FROM generate_series(${from}, ${from + 1999}) i`,
    );
  }
});

const pool = (): Pool => primaryPool(service.dataSource);
const query = <Row>(sql: string) => service.dataSource.query<Row[]>(sql);

/** Sends a request. Returns the response without reading its body. */
async function ask(path: string, accept = 'application/x-ndjson'): Promise<IncomingMessage> {
  const headers = { ...service.headers, Accept: accept };
  const sent = httpRequest({ port: service.port, path, headers, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Resolves when the service uses no connection and has no open transaction. */
async function isIdle(): Promise<void> {
  await until(async () => {
    const others = await query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND state <> 'idle' AND backend_type = 'client backend'`,
    );
    return others.length === 0 && pool().totalCount === pool().idleCount;
  });
}

describe('A list as a stream', () => {
  it('is whole, in one snapshot with its count, whatever is written meanwhile', async () => {
    const response = await ask('/products?fields=productID');
    expect(response.headers['x-total-count']).toBe(String(COUNT));
    await query(
      `INSERT INTO products ("productID", type) VALUES ('p000000', 'SERVICE'), ('q', 'SERVICE')`,
    );
    const lines = (await textOf(response)).trimEnd().split('\n');
    await query(`DELETE FROM products WHERE type = 'SERVICE'`);
    expect(lines).toHaveLength(COUNT);
    expect(lines[COUNT - 1]).toBe(`{"productID":"p${String(COUNT).padStart(6, '0')}"}`);
  });

  it('waits for its reader, and frees its connection when the reader disconnects', async () => {
    const response = await ask('/products');
    await once(response, 'readable');
    response.read();
    const waitingSince = async () => {
      const [connection] = await query<{ since: Date }>(
        `SELECT state_change AS since FROM pg_stat_activity
         WHERE datname = current_database() AND state = 'idle in transaction'`,
      );
      return connection?.since.getTime();
    };
    // As soon as the buffers of the sockets are full, no statement follows the last one.
    await until(async () => {
      const since = await waitingSince();
      await sleep(300);
      return since !== undefined && since === (await waitingSince());
    });
    response.destroy();
    await isIdle();
  });

  it('has left its place when its reader has read it', async () => {
    const limit = service.application.get(StreamLimit);
    const { maximum } = limit;
    Object.assign(limit, { maximum: 1 });
    const statuses: (number | undefined)[] = [];
    for (let at = 0; at < 50; at += 1) {
      const response = await ask('/products?limit=1');
      await textOf(response);
      statuses.push(response.statusCode);
    }
    Object.assign(limit, { maximum });
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('is cut off when its reader takes nothing, and frees its connection', async () => {
    const server = service.application.get(StreamServer);
    const { stallTimeout } = server;
    Object.assign(server, { stallTimeout: 200 });
    const response = await ask('/products');
    await once(response, 'readable');
    await isIdle();
    await expect(textOf(response)).rejects.toThrow('aborted');
    Object.assign(server, { stallTimeout });
  });

  it('cancels its query when the reader disconnects before the first object', async () => {
    const runner = service.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('LOCK TABLE products IN ACCESS EXCLUSIVE MODE');
    const headers = { ...service.headers, Accept: 'text/csv' };
    const { port } = service;
    const sent = httpRequest({ port, path: '/products', headers, agent: false }).end();
    sent.on('error', () => undefined);
    const waiting = async () => {
      const rows = await query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length;
    };
    await until(async () => (await waiting()) === 1);
    sent.destroy();
    await until(async () => (await waiting()) === 0);
    await runner.rollbackTransaction();
    await runner.release();
    await isIdle();
  });

  it('is counted, object by object, and answers HEAD without them', async () => {
    const served = async () => {
      const { text } = await service.anonymous().get('/metrics').buffer(true).expect(200);
      return Number(/^catalogue_rows_served_total (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    const before = await served();
    await textOf(await ask('/products?fields=productID&limit=1000'));
    // The metrics are cached.
    await until(async () => (await served()) > before);
    expect((await served()) - before).toBe(1000);
    await service
      .anonymous()
      .head('/products')
      .set({ ...service.headers, Accept: 'text/csv' })
      .expect('Content-Type', /^text\/csv/)
      .expect('X-Total-Count', String(COUNT))
      .expect(200);
    await isIdle();
  });

  it('is refused in the envelope before it begins', async () => {
    await service
      .get('/products?nonsense=1')
      .set('Accept', 'text/csv')
      .expect('Content-Type', /^application\/json/)
      .expect(400, refusal(-23, 'The parameter nonsense must not be present in this request'));
  });

  it('leaves half of the connections to the others', async () => {
    const streams = await Promise.all([ask('/products'), ask('/products')]);
    await service
      .get('/products')
      .set('Accept', 'application/x-ndjson')
      .expect('Retry-After', '1')
      .expect(503, refusal(-4, 'The service is busy'));
    await service.get('/products').expect(200);
    for (const response of streams) response.destroy();
    await isIdle();
    await service.get('/brands').set('Accept', 'text/csv').expect(200);
  });

  it('is cut off, never ended, when it fails on the way, and is reported with the cause', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const observed: Observation[] = [];
    const adapter = service.application.getHttpAdapter() as unknown as EnvelopedExpressAdapter;
    adapter.attach({ observe: (observation) => observed.push(observation) });
    try {
      const response = await ask('/products');
      await once(response, 'data');
      response.pause();
      // Until it rests in its transaction, since the reader takes no more.
      await until(async () => {
        const [ended] = await query<{ ended: boolean }>(
          `SELECT bool_or(pg_terminate_backend(pid)) AS ended FROM pg_stat_activity
           WHERE datname = current_database() AND state = 'idle in transaction' AND query LIKE 'FETCH%'`,
        );
        return ended?.ended === true;
      });
      await expect(textOf(response)).rejects.toThrow('aborted');
      await isIdle();
      await until(() => observed.length > 0 && logged.mock.calls.length > 0);
      expect(observed.at(-1)).toMatchObject({ route: '/products', status: 503, errcode: -2 });
      expect(logged.mock.lastCall?.[0]).toMatch(
        /GET \/products -2: terminating connection due to administrator command$/,
      );
      const left = await ask('/products');
      left.destroy();
      await until(() => observed.length > 1);
      expect(observed.at(-1)).toMatchObject({ route: '/products', status: 0, errcode: 0 });
    } finally {
      logged.mockRestore();
    }
  });

  it('has a tag of its own, for which it is answered 304', async () => {
    const tags = new Set<string>();
    for (const accept of ['application/json', 'application/x-ndjson', 'text/csv']) {
      const { headers } = await service.get('/brands').set('Accept', accept).expect(200);
      const etag = headers.etag ?? '';
      tags.add(etag);
      await service.get('/brands').set('Accept', accept).set('If-None-Match', etag).expect(304);
    }
    expect(tags.size).toBe(3);
  });
});

describe('Accept', () => {
  it.each([
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
    ['image/png', 'application/json'],
    ['text/csv', 'text/csv'],
    ['text/*', 'text/csv'],
    ['text/csv;q=0.5, application/x-ndjson', 'application/x-ndjson'],
    ['application/x-ndjson;q=0.5, application/json;q=0.6', 'application/json'],
    ['text/csv, */*;q=0.1', 'text/csv'],
    ['text/csv; charset=utf-8', 'text/csv'],
    [
      'application/x-ndjson;charset=UTF-8;q=0.9, text/csv;header=absent;q=0.1',
      'application/x-ndjson',
    ],
    ['text/csv;q=0, application/x-ndjson;q=0, */*', 'application/json'],
  ])('%s is answered with %s', async (accept, type) => {
    const { headers } = await service.get('/brands').set('Accept', accept).expect(200);
    const more = type === 'text/csv' ? '; header=present' : '';
    expect(headers['content-type']).toBe(`${type}; charset=utf-8${more}`);
    expect(headers.vary).toBe('Accept, Authorization, Accept-Encoding');
  });
});

describe('CSV', () => {
  it('has every value as it is stored', async () => {
    const names = ['=1+1', '+1', '-1', '@a', '\ta', '\ra', 'a,b', 'a "b"', 'a\r\nb', ' a', "'a"];
    await service.load(
      'products',
      names.map((name, at) => ({
        productID: `-${String.fromCharCode(97 + at)}`,
        type: 'SERVICE',
        name,
        description: '',
        stock: -at,
      })),
    );
    const { text } = await service
      .get('/products?type=SERVICE&fields=productID,name,description,price,stock')
      .set('Accept', 'text/csv')
      .buffer(true)
      .expect(200);
    expect(
      text.startsWith(
        `productID,name,description,price,stock\r\n-a,=1+1,"",,0\r\n-b,+1,"",,-1\r\n`,
      ),
    ).toBe(true);
    const rows = parse<{ name: string }>(text, { columns: true, record_delimiter: '\r\n' });
    expect(rows.map(({ name }) => name)).toEqual(names);
    // Some readers take a carriage return alone as the end of a row.
    expect(text).toContain(`,"\ra",`);
    await query(`DELETE FROM products WHERE type = 'SERVICE'`);
  });
});
