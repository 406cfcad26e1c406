import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { ClientCache } from '../../src/clients/client-cache.js';
import { ClientRequests } from '../../src/clients/client-requests.js';
import { ClientsService } from '../../src/clients/clients.service.js';
import { RepeatedRefusals } from '../../src/clients/repeated-refusals.js';
import { SchemaDoubt } from '../../src/database/schema-doubt.js';
import type { EnvelopedExpressAdapter } from '../../src/http/server/enveloped-express.adapter.js';
import type { Observation } from '../../src/http/observation.js';
import { rawRequest, type RawResponse } from '../http/raw-request.js';
import { type Service, startService } from '../service.js';
import { until } from '../until.js';

const LIMIT = 2;
const RATE = 1000;

let service: Service;
let observed: Observation[];
let clients = 0;

beforeAll(async () => {
  service = await startService({
    MAX_REQUESTS_PER_CLIENT: String(LIMIT),
    MAX_STREAMS_PER_CLIENT: '1',
    RATE_LIMIT_PER_MINUTE: String(RATE),
  });
  const adapter = service.application.getHttpAdapter() as unknown as EnvelopedExpressAdapter;
  const { observe } = adapter;
  adapter.observe = (observation) => {
    observed.push(observation);
    observe(observation);
  };
  // More than the buffers of a connection hold, so that a list is open until it is read.
  for (let from = 1; from <= 6000; from += 1000) {
    await service.dataSource.query(
      `INSERT INTO products ("productID", type, name, description)
       SELECT 'p' || i, 'PHYSICAL', 'Product', repeat('x', 2000)
       FROM generate_series(${from}, ${from + 999}) i`,
    );
  }
});
afterAll(() => service.stop());
afterEach(() => {
  jest.restoreAllMocks();
});

interface Credentials {
  readonly clientID: string;
  readonly token: string;
}

async function newClient(expiresAt: Date | null = null, rateLimit?: number): Promise<Credentials> {
  const management = service.application.get(ClientsService);
  const clientID = `client-${(clients += 1)}`;
  await management.create(clientID, rateLimit === undefined ? {} : { rateLimit });
  const { token } = await management.issue(clientID, expiresAt);
  return { clientID, token };
}

const headOf = ({ clientID, token }: Credentials): string =>
  `X-Client-ID: ${clientID}\r\nAuthorization: Bearer ${token}\r\n`;

/** Sends a request; gives its response, its observation, and whether it was refused before Express. */
async function ask(
  line: string,
  head: string,
): Promise<RawResponse & { isEarly: boolean; seen: Observation | undefined }> {
  observed = [];
  const refuse = jest.spyOn(RepeatedRefusals.prototype, 'refuse');
  const sent = `${line} HTTP/1.1\r\nHost: catalogue\r\nX-Request-Id: mine\r\n${head}\r\n`;
  const [response] = await rawRequest(service.port, sent);
  if (!response) throw new Error(`There is no response to ${line}`);
  const isEarly = refuse.mock.results.some(({ value }) => value === true);
  refuse.mockRestore();
  // A new one for a malformed request.
  const requestId = response.headers['x-request-id'];
  await until(() => observed.some(({ id }) => id === requestId));
  return { ...response, isEarly, seen: observed.find(({ id }) => id === requestId) };
}

/** What must be the same before and behind Express: all but the date, the time taken, and what counts down. */
function comparable({ status, headers, body, seen }: Awaited<ReturnType<typeof ask>>): object {
  expect(Number(headers['x-ratelimit-remaining'])).toBeGreaterThan(0);
  const varying = { date: '', 'x-ratelimit-remaining': '', 'x-ratelimit-reset': '' };
  return {
    status,
    names: Object.keys(headers),
    headers: { ...headers, ...varying },
    body,
    seen: { ...seen, milliseconds: 0 },
  };
}

/** Lets a client have as many requests in work as it may, while `work` runs. */
async function whileFull({ clientID }: Credentials, work: () => Promise<void>): Promise<void> {
  const requests = service.application.get(ClientRequests);
  for (let at = 0; at < LIMIT; at += 1) requests.enter(clientID, 1);
  try {
    await work();
  } finally {
    for (let at = 0; at < LIMIT; at += 1) requests.leave(clientID);
  }
}

describe('A request beyond the requests in work of its client', () => {
  it('gets the same response before Express as behind it, also for other values', async () => {
    const client = await newClient();
    await whileFull(client, async () => {
      const behind = await ask('GET /brands?offset=7', headOf(client));
      const before = await ask('GET /brands?offset=8', headOf(client));
      expect([behind.isEarly, before.isEarly]).toEqual([false, true]);
      expect([behind.status, before.seen?.errcode]).toEqual([503, -4]);
      expect(comparable(before)).toEqual(comparable(behind));
      const [left, leftThen] = [behind, before].map(({ headers }) =>
        Number(headers['x-ratelimit-remaining']),
      );
      expect(leftThen).toBe((left ?? 0) - 1);
    });
    const after = await ask('GET /brands?offset=8', headOf(client));
    expect([after.status, after.isEarly]).toEqual([200, false]);
  });

  it('gets its own error if it has one, and other clients are answered', async () => {
    const [client, other] = [await newClient(), await newClient()];
    await whileFull(client, async () => {
      const { clientID, token } = client;
      const known = `GET /brands?offset=7`;
      const credentials = headOf(client);
      const inQuery = `clientID=${clientID}&access_token=${token}`;
      await ask(known, credentials);
      await ask(`GET /brands?${inQuery}`, '');
      expect((await ask(known, credentials)).isEarly).toBe(true);
      expect((await ask(`GET /brands?${inQuery}`, '')).isEarly).toBe(true);
      const errcodes = [];
      for (const [line, head] of [
        ['GET /nowhere?offset=7', credentials],
        ['GET /brands/?offset=7', credentials],
        ['POST /brands?offset=7', credentials],
        ['GET /brands?offset=%zz', credentials],
        ['GET /brands?nonsense=7', credentials],
        ['GET /brands?offset=7&%6eonsense=7', credentials],
        ['GET /brands?offset=7', ''],
        ['GET /brands?offset=7', headOf({ clientID, token: 'wrong' })],
        ['GET /brands?offset=7', headOf({ clientID, token: other.token })],
        ['GET /brands?offset=7', headOf({ clientID: other.clientID, token })],
        [`GET /brands?clientID=${clientID}&access_token=wrong`, ''],
        [`GET /brands?client%49D=${other.clientID}&access_token=${token}`, ''],
        [`GET /brands?${inQuery}`, `X-Client-ID: ${clientID}\r\n`],
      ] as const) {
        const { body, isEarly } = await ask(line, head);
        expect(isEarly).toBe(false);
        const { result } = JSON.parse(body) as { result: { errcode: string } };
        errcodes.push(Number(result.errcode));
      }
      expect(errcodes).toEqual([-30, -30, -32, -20, -23, -23, -10, -11, -11, -11, -11, -11, -14]);
      const { status } = await ask('GET /categories?offset=7', headOf(other));
      expect(status).toBe(200);
    });
  });

  it('counts against the rate, and beyond it gets -40 as behind Express', async () => {
    const client = await newClient(null, 3);
    await whileFull(client, async () => {
      const errors = [];
      for (let sent = 0; sent < 5; sent += 1) {
        const { status, isEarly, headers } = await ask('GET /brands', headOf(client));
        errors.push([status, isEarly, headers['x-ratelimit-remaining']]);
        if (status === 429) expect(headers['retry-after']).toBe(headers['x-ratelimit-reset']);
      }
      expect(errors).toEqual([
        [503, false, '2'],
        [503, true, '1'],
        [503, true, '0'],
        [429, true, '0'],
        [429, true, '0'],
      ]);
    });
  });

  it('passes all checks again once its client is disabled', async () => {
    const client = await newClient();
    await whileFull(client, async () => {
      await ask('GET /brands', headOf(client));
      expect((await ask('GET /brands', headOf(client))).isEarly).toBe(true);
      await service.application.get(ClientsService).setDisabled(client.clientID, true);
      // As the cache does by itself after some seconds.
      const cache: unknown = service.application.get(ClientCache);
      await (cache as { read: (clientID: string) => Promise<unknown> }).read(client.clientID);
      const { isEarly, seen } = await ask('GET /brands', headOf(client));
      expect([isEarly, seen?.errcode]).toEqual([false, -13]);
    });
  });

  it('passes them again once its token has expired, and after some seconds', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const [expiring, lasting] = [await newClient(expiresAt), await newClient()];
    await whileFull(expiring, () =>
      whileFull(lasting, async () => {
        const now = jest.spyOn(Date, 'now');
        const answers = async (of: Credentials, at: number) => {
          now.mockReturnValue(at);
          const { isEarly, seen } = await ask('GET /brands', headOf(of));
          return [isEarly, seen?.errcode];
        };
        const last = expiresAt.getTime() - 1000;
        expect(await answers(expiring, last)).toEqual([false, -4]);
        expect(await answers(lasting, last)).toEqual([false, -4]);
        expect(await answers(expiring, last + 999)).toEqual([true, -4]);
        expect(await answers(expiring, last + 1000)).toEqual([false, -12]);
        expect(await answers(lasting, last + 1999)).toEqual([true, -4]);
        expect(await answers(lasting, last + 2000)).toEqual([false, -4]);
      }),
    );
  });

  it('gets -2 while the schema is in doubt', async () => {
    const client = await newClient();
    await whileFull(client, async () => {
      await ask('GET /brands', headOf(client));
      const doubt = service.application.get(SchemaDoubt);
      doubt.isOpen = true;
      const { isEarly, seen } = await ask('GET /brands', headOf(client));
      doubt.isOpen = false;
      expect([isEarly, seen?.errcode]).toEqual([false, -2]);
    });
  });
});

it('A whole list beyond those of its client gets the same response before Express as behind it', async () => {
  const client = await newClient();
  const stream = httpRequest({
    port: service.port,
    path: '/products',
    agent: false,
    headers: {
      Accept: 'text/csv',
      'X-Client-ID': client.clientID,
      Authorization: `Bearer ${client.token}`,
    },
  }).end();
  const [open] = (await once(stream, 'response')) as [NodeJS.ReadableStream];
  const csv = `Accept: text/csv\r\n${headOf(client)}`;
  const behind = await ask('GET /products', csv);
  const before = await ask('GET /products', csv);
  expect([behind.isEarly, before.isEarly, before.status]).toEqual([false, true, 503]);
  expect(comparable(before)).toEqual(comparable(behind));
  // What was not checked, or is no whole list, is not refused for it.
  const statuses = [];
  for (const [line, head] of [
    ['GET /products?type=NONE', csv],
    ['GET /products', headOf(client)],
    ['GET /products', `If-None-Match: "x"\r\n${headOf(client)}`],
    ['GET /brands', headOf(client)],
  ] as const) {
    const { status, isEarly } = await ask(line, head);
    statuses.push([status, isEarly]);
  }
  expect(statuses).toEqual([
    [400, false],
    [200, false],
    [200, false],
    [200, false],
  ]);
  open.resume();
  await once(open, 'end');
  await until(async () => (await ask('GET /brands', csv)).status === 200);
});
