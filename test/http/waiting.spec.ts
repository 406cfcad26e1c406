import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Pool } from 'pg';
import { primaryPool } from '#server/private-api/database.js';
import { ClientsService } from '#server/clients/clients.service.js';
import { ClientCache } from '#server/clients/client-cache.js';
import { preferredWait } from '#server/http/negotiation.js';
import type { Observation } from '#server/http/observation.js';
import type { EnvelopedExpressAdapter } from '#server/http/server/enveloped-express.adapter.js';
import type { ReadPool } from '#server/database/read-pool.js';
import { Versions } from '#server/list/reading/versions.js';
import { PageServer } from '#server/list/serving/page-server.js';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';
import { Gate } from '../faults/gate.js';
import { sentStatements } from '../sent-statements.js';
import { refusal, type Service, startService, whileOverloaded } from '../service.js';
import { until } from '../until.js';

interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Until it was complete. */
  readonly milliseconds: number;
}

let database: TestDatabase;
/** Two instances on one database. The second can read it by way of a gate alone. */
let service: Service;
let other: Service;
let gate: Gate;
let observations: Observation[];

beforeAll(async () => {
  jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  database = await createDatabase();
  gate = await Gate.before(database.url);
  service = await startService({ DATABASE_URL: database.url, POOL_SIZE: '4' });
  const again = { DATABASE_URL: gate.url, POOL_SIZE: '4', SLOW_LIST_MS: '500' };
  other = await startOther(again);
  await service.load('brands', [{ brandID: 'a', name: 'A' }]);
  adapterOf(other).attach({ observe: (observation) => observations.push(observation) });
});
afterAll(async () => {
  await other.stop();
  await service.stop();
  await gate.shut();
  await database.drop();
  jest.restoreAllMocks();
});

/** An instance whose client is the first one's. */
async function startOther(environment: NodeJS.ProcessEnv): Promise<Service> {
  const create = jest.spyOn(ClientsService.prototype, 'create').mockResolvedValue(undefined);
  try {
    return await startService(environment);
  } finally {
    create.mockRestore();
  }
}

function adapterOf({ application }: Service): EnvelopedExpressAdapter {
  return application.getHttpAdapter() as unknown as EnvelopedExpressAdapter;
}

function untilWaiting(count: number, of = service): Promise<void> {
  return until(() => adapterOf(of).waiting.size === count);
}

function poolOf({ dataSource }: Service): Pool {
  return primaryPool(dataSource);
}

function connectionsInUse(): number {
  const { totalCount, idleCount } = poolOf(service);
  return totalCount - idleCount;
}

/** A request on a connection of its own. */
function get(
  path: string,
  headers: OutgoingHttpHeaders,
  { port, headers: credentials } = service,
): Promise<Response> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const all = { ...credentials, ...headers };
    request({ port, path, headers: all, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, body, milliseconds: performance.now() - began });
      });
    })
      .on('error', reject)
      .end();
  });
}

/** A request that waits for a change of a list as it is now. */
async function wait(path: string, seconds: number, of = service): Promise<Response> {
  const { etag = '' } = (await get(path, {}, of)).headers;
  return get(path, { 'If-None-Match': etag, Prefer: `wait=${seconds}` }, of);
}

let names = 0;
const change = () =>
  service.dataSource.query(`UPDATE brands SET name = $1 WHERE "brandID" = 'a'`, [
    `A ${(names += 1)}`,
  ]);

it.each([
  ['wait=5', 5],
  ['Wait = "5"', 5],
  ['respond-async, wait=5; foo="a,b"', 5],
  ['foo="a, wait=9", wait=5', 5],
  ['foo="\\", wait=9", wait=5', 5],
  ['foo; wait=9, wait=5', 5],
  ['wait=5, wait=9', 5],
  ['wait=600', 60],
  ['wait=0', undefined],
  ['wait=-1', undefined],
  ['wait=1.5', undefined],
  ['wait=5s', undefined],
  ['wait', undefined],
  ['wait, wait=5', undefined],
  ['await=5', undefined],
  ['foo="wait=5', undefined],
  ['', undefined],
])('Prefer: %s', (prefer, seconds) => {
  expect(preferredWait(prefer)).toBe(seconds);
});

describe('A request with Prefer: wait', () => {
  it('whose answer would be 304 is answered when there is a change, on each instance', async () => {
    observations = [];
    const waiting = [service, other].map((of) => wait('/brands', 30, of));
    await Promise.all([untilWaiting(1), untilWaiting(1, other)]);
    const changed = performance.now();
    await change();
    for (const { status, headers, body } of await Promise.all(waiting)) {
      expect(status).toBe(200);
      expect(headers).toMatchObject({ 'preference-applied': 'wait=30', etag: expect.any(String) });
      expect(body).toContain(`"name":"A ${names}"`);
    }
    expect(performance.now() - changed).toBeLessThan(15_000);
  });

  it('gets its 304 when the time is over, with a new time', async () => {
    observations = [];
    const before = (await get('/brands', {}, other)).headers['x-updated-until'];
    const { status, headers, body, milliseconds } = await wait('/brands', 2, other);
    expect({ status, body }).toEqual({ status: 304, body: '' });
    expect(headers['preference-applied']).toBe('wait=2');
    expect(before === undefined || String(headers['x-updated-until']) >= before).toBe(true);
    expect(milliseconds).toBeGreaterThan(1000);
    expect(milliseconds).toBeLessThan(15_000);
    // The time that it waited is not counted: it is neither slow nor a long request.
    await until(() => observations.length === 3);
    expect(observations.at(-1)).toMatchObject({ status: 304, errcode: 0, slow: undefined });
    expect(observations.at(-1)?.milliseconds).toBeLessThan(1500);
  });

  it.each([
    ['a list', '/brands?updatedSince=', 'application/json', 'A'],
    ['a whole list', '/brands?updatedSince=', 'application/x-ndjson', 'A'],
    ['changes', '/changes?resources=brands&since=', 'application/x-ndjson', '"deleted":"b"'],
  ])('for changes, without any yet, waits: %s', async (_, path, Accept, found) => {
    await service.load('brands', [{ brandID: 'b', name: 'B' }]);
    const [row] = await service.dataSource.query<[{ now: Date }]>('SELECT now() + $1 AS now', [
      '1 second',
    ]);
    await until(() => Date.now() > row.now.getTime());
    const query = path + row.now.toISOString();
    const waiting = get(query, { Accept, Prefer: 'wait=30' });
    await untilWaiting(1);
    expect(connectionsInUse()).toBe(0);
    await service.dataSource.query(
      `WITH deleted AS (DELETE FROM brands WHERE "brandID" = 'b')
       UPDATE brands SET name = name || '.' WHERE "brandID" = 'a'`,
    );
    const { status, headers, body } = await waiting;
    expect(status).toBe(200);
    expect(headers['preference-applied']).toBe('wait=30');
    expect(body).toContain(found);
  });

  it('is answered at once if there is something new', async () => {
    const other = { 'If-None-Match': '"other"' };
    for (const headers of [other, { Accept: 'text/csv', ...other }]) {
      const response = await get('/brands', { ...headers, Prefer: 'wait=30' });
      expect(response).toMatchObject({ status: 200, headers: { 'preference-applied': 'wait=30' } });
      expect(response.milliseconds).toBeLessThan(15_000);
    }
  });

  it('does not apply to what does not say what its client knows', async () => {
    const since = `updatedSince=${new Date().toISOString()}`;
    for (const path of ['/brands', `/facets/products?${since}`]) {
      const { status, headers } = await get(path, { Prefer: 'wait=30' });
      expect([status, headers['preference-applied']]).toEqual([200, undefined]);
    }
  });

  it('delays what is behind it on its connection, also what cannot be parsed', async () => {
    observations = [];
    const { headers } = await get('/brands', {}, other);
    const socket = connect(other.port, '127.0.0.1');
    const head = `Host: a\r\nX-Client-ID: ${service.clientID}\r\nAuthorization: Bearer ${service.token}\r\n`;
    socket.write(
      `GET /brands HTTP/1.1\r\n${head}If-None-Match: ${headers.etag}\r\nPrefer: wait=2\r\n\r\n` +
        `GET /%zz HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
    );
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 304 [^]*HTTP\/1\.1 400 [^]*"-20"/);
    // It was observed, after more than the time from which a request is slow.
    await until(() => observations.some(({ errcode }) => errcode === -20));
  });

  it('takes no connection and no place of those in work, and all share a few looks a second', async () => {
    const { headers } = await get('/brands', {});
    const sent = { 'If-None-Match': String(headers.etag), Prefer: 'wait=30' };
    // More than the service or the client may have in work.
    const waiting: ReturnType<typeof get>[] = [];
    while (waiting.length < 120) {
      // As many at a time as a busy service takes.
      waiting.push(...Array.from({ length: 20 }, () => get('/brands', sent)));
      await untilWaiting(waiting.length);
    }
    expect(adapterOf(service).admission.size).toBe(0);
    expect(connectionsInUse()).toBe(0);
    const spy = jest.spyOn(poolOf(service), 'query');
    const began = performance.now();
    await until(() => performance.now() - began > 2500);
    const looks = sentStatements(spy).filter(({ text }) => text.includes('resource_version'));
    spy.mockRestore();
    // Ten a second, as far as the machine lets them.
    expect(looks.length).toBeGreaterThanOrEqual(5);
    expect(looks.length).toBeLessThanOrEqual(26);
    await change();
    // Not all at once: none is refused as too many.
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
  });

  it('is counted once', async () => {
    const counted = await service.newClient('counted', { rateLimit: 3 });
    const { headers, status } = await wait('/brands', 1, counted);
    expect({ status, left: headers['x-ratelimit-remaining'] }).toEqual({ status: 304, left: '1' });
  });

  it.each(['end', 'destroy', 'resetAndDestroy'] as const)(
    'stops to wait when its client is gone: %s',
    async (how) => {
      const { etag = '' } = (await get('/brands', {})).headers;
      const socket = connect(service.port, '127.0.0.1');
      socket.write(
        `GET /brands HTTP/1.1\r\nHost: a\r\nX-Client-ID: ${service.clientID}\r\nAuthorization: Bearer ${service.token}\r\nIf-None-Match: ${etag}\r\nPrefer: wait=30\r\n\r\n`,
      );
      await untilWaiting(1);
      socket[how]();
      await until(() => adapterOf(service).waiting.size === 0, 10_000);
      socket.destroy();
    },
  );

  it('gets -4 if 1,000 of its client wait', async () => {
    const { etag = '' } = (await get('/brands', {})).headers;
    const sent = { 'If-None-Match': etag, Prefer: 'wait=30' };
    const waiting: Promise<Response>[] = [];
    while (waiting.length < 1000) {
      // No more than a client may have in work beside others.
      for (let at = 0; at < 8; at += 1) waiting.push(get('/brands', sent));
      await untilWaiting(waiting.length);
    }
    const { status, body } = await get('/brands', sent);
    expect({ status, body: JSON.parse(body) as unknown }).toEqual({
      status: 503,
      body: refusal(-4, 'The service is busy'),
    });
    // Without waiting, the client is served.
    expect((await get('/brands', {})).status).toBe(200);
    const changed = performance.now();
    await change();
    for (const response of await Promise.all(waiting)) expect(response.status).toBe(200);
    console.info(`1,000 answered in ${Math.round(performance.now() - changed)} ms`);
  });

  it('gets -4 if the service is overloaded when it has waited', async () => {
    const waiting = wait('/brands', 30);
    await untilWaiting(1);
    const { status, body, headers } = await whileOverloaded(service, async () => {
      await change();
      return waiting;
    });
    expect(JSON.parse(body)).toEqual(refusal(-4, 'The service is busy'));
    expect(status).toBe(503);
    expect(headers).toMatchObject({ 'retry-after': '1' });
    expect(headers.etag).toBeUndefined();
  });

  it('gets -2 soon after the database is lost, as do others that are the same', async () => {
    observations = [];
    const waiting = [wait('/brands', 30, other), wait('/brands', 30, other)];
    await untilWaiting(2, other);
    await gate.shut();
    const answers = await Promise.all(waiting);
    await gate.open();
    for (const { body, milliseconds } of answers) {
      expect(JSON.parse(body)).toEqual(refusal(-2, 'The service is temporarily unavailable'));
      expect(milliseconds).toBeLessThan(15_000);
    }
    await until(() => observations.filter(({ errcode }) => errcode === -2).length === 2);
  });

  const endless = {
    source: 'primary',
    rows: () => new Promise(() => undefined),
  } as unknown as ReadPool;

  function untilEnd(versions: Versions, seconds: number): Promise<void> {
    return new Promise((resolve) => void versions.wait(['brands'], endless, '1', seconds, resolve));
  }

  it('makes one look at a time, also at a database that does not respond', async () => {
    const rows = jest.spyOn(endless, 'rows');
    await untilEnd(new Versions(), 1);
    expect(rows).toHaveBeenCalledTimes(1);
  });

  it('ends in time although a look at the versions takes longer', async () => {
    const versions = new Versions();
    const began = performance.now();
    await untilEnd(versions, 1);
    await untilEnd(versions, 2);
    expect(performance.now() - began).toBeGreaterThan(2000);
  });

  it('is answered before the service stops', async () => {
    const third = await startOther({ DATABASE_URL: database.url });
    const waiting = wait('/brands', 30, third);
    await untilWaiting(1, third);
    const began = performance.now();
    await Promise.all([third.stop(), waiting]);
    expect((await waiting).status).toBe(304);
    expect(performance.now() - began).toBeLessThan(15_000);
  });
});

describe('Requests whose waits end at the same time', () => {
  /** The ids of those that have run again. */
  let ran: string[];
  /** Called with the socket of each; what it returns is the answer. */
  let intervene: ((socket: Socket) => Promise<never>) | undefined;

  beforeAll(() => {
    const pages = other.application.get(PageServer);
    const answer = pages.answer.bind(pages);
    jest.spyOn(pages, 'answer').mockImplementation((prepared, request) => {
      if (request.waited) ran.push(request.id);
      const instead = request.waited && intervene?.(request.socket);
      return instead ?? answer(prepared, request);
    });
  });
  beforeEach(() => {
    observations = [];
    ran = [];
  });

  /** Requests that wait for a change of the brands, one behind the other. */
  async function allWait(
    ...sent: readonly { of?: Service; headers?: OutgoingHttpHeaders }[]
  ): Promise<Promise<Response>[]> {
    const { etag } = (await get('/brands', {}, other)).headers;
    const waiting: Promise<Response>[] = [];
    for (const { of = service, headers } of sent) {
      const all = { 'If-None-Match': etag, Prefer: 'wait=30', ...headers };
      waiting.push(get('/brands', all, { ...of, port: other.port }));
      await untilWaiting(waiting.length, other);
    }
    return waiting;
  }

  it('are answered by one of those that are the same, each with its own id and limits', async () => {
    const limited = await service.newClient('limited', { rateLimit: 3 });
    const waiting = await allWait(
      { of: limited, headers: { 'X-Request-Id': 'one', Origin: 'https://one.example' } },
      { of: limited, headers: { 'X-Request-Id': 'other', 'User-Agent': 'another' } },
      { headers: { 'X-Request-Id': 'of-another-client' } },
      { of: limited, headers: { 'X-Request-Id': 'compressed', 'Accept-Encoding': 'gzip' } },
    );
    await service.dataSource.query(
      `UPDATE brands SET name = repeat('long ', 100) WHERE "brandID" = 'a'`,
    );
    const responses = await Promise.all(waiting);
    expect(ran).toEqual(['one', 'of-another-client', 'compressed']);
    const left = responses.map(({ headers }) => headers['x-ratelimit-remaining']);
    const own = ['x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'date'];
    const [one, same, another, compressed] = responses.map(({ headers, status, body }) => {
      const shared = Object.entries(headers).filter(([name]) => !own.includes(name));
      return { id: headers['x-request-id'], headers: Object.fromEntries(shared), status, body };
    });
    expect(one).toMatchObject({ id: 'one', status: 200, body: expect.stringContaining('long') });
    expect(one?.headers).toMatchObject({
      etag: expect.any(String),
      'preference-applied': 'wait=30',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(same).toEqual({ ...one, id: 'other' });
    expect(another).toMatchObject({ id: 'of-another-client', status: 200, body: one?.body });
    expect(compressed).toMatchObject({ id: 'compressed', status: 200 });
    expect(left.slice(0, 2)).toEqual(['2', '1']);
    await until(() => observations.length === 5);
    const seen = observations.map(({ id, client, status, rows }) => ({ id, client, status, rows }));
    const ofLimited = { client: 'limited', status: 200, rows: 1 };
    expect(seen).toContainEqual({ id: 'one', ...ofLimited });
    expect(seen).toContainEqual({ id: 'other', ...ofLimited });
  });

  it('get -11 each if their token has been revoked', async () => {
    const revoked = await service.newClient('revoked');
    const waiting = await allWait({ of: revoked }, { of: revoked }, {});
    await service.dataSource.query(`DELETE FROM access_tokens WHERE "clientID" = 'revoked'`);
    // As five seconds later.
    const cache: { clear(): void } = Reflect.get(other.application.get(ClientCache), 'entries');
    cache.clear();
    await change();
    const bodies = (await Promise.all(waiting)).map(({ body }) => JSON.parse(body) as unknown);
    const refused = { result: { status: 'ERROR', errcode: '-11' } };
    expect(bodies).toMatchObject([refused, refused, { result: { status: 'OK' } }]);
    await until(() => observations.filter(({ address }) => address !== undefined).length === 2);
  });

  it('are answered by another one if the connection of the first is gone', async () => {
    const [first, second] = await allWait({}, {});
    const gone = expect(first).rejects.toThrow();
    intervene = (socket) => {
      intervene = undefined;
      socket.destroy();
      return new Promise(() => undefined);
    };
    await change();
    await gone;
    expect(await second).toMatchObject({ status: 200, body: expect.stringContaining('"A ') });
    expect(ran).toHaveLength(2);
    expect(adapterOf(other).waiting.size).toBe(0);
  });
});
