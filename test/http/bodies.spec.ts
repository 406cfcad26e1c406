import { beforeAll, describe, expect, it } from '@jest/globals';
import type { EnvelopedExpressAdapter } from '#server/http/server/enveloped-express.adapter.js';
import { refusal, sharedService, whileOverloaded } from '../service.js';
import { until } from '../until.js';
import { HalfOpenClient } from './half-open-client.js';

/** The beginnings of bodies that never end, by the headers that announce them. */
const BODIES: readonly (readonly [headers: string, body: string])[] = [
  ['Content-Length: 9\r\n', 'a'],
  ['Content-Length: 9\r\n', ''],
  ['Content-Length: 1\r\n', 'a'],
  ['Content-Length: 100000\r\n', 'a'.repeat(50_000)],
  ['Content-Length: 2147483648\r\n', 'a'],
  ['Content-Length: 4294967296\r\n', 'a'],
  ['Content-Length: 99999999999999999999999\r\n', 'a'],
  ['Content-Length: nine\r\n', 'a'],
  ['Content-Length: -1\r\n', 'a'],
  ['Content-Length: 0\r\nContent-Length: 9\r\n', 'a'],
  ['Content-Length:\r\n', ''],
  ['Transfer-Encoding: chunked\r\n', '9\r\na'],
  ['Transfer-Encoding: chunked\r\n', '0\r\n\r\n'],
  ['Transfer-Encoding: gzip, chunked\r\n', '9\r\na'],
  ['Transfer-Encoding: gzip\r\n', 'a'],
  ['Content-Length: 9\r\nTransfer-Encoding: chunked\r\n', '9\r\na'],
  ['Expect: 100-continue\r\nContent-Length: 9\r\n', ''],
  ['Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n', ''],
];

const MALFORMED = refusal(-20, 'The request is malformed');

describe('A request with a body', () => {
  const service = sharedService({ CORS_ORIGINS: 'https://shop.example' });
  let adapter: EnvelopedExpressAdapter;
  let get: string;

  beforeAll(() => {
    adapter = service.application.getHttpAdapter() as unknown as EnvelopedExpressAdapter;
    const credentials = `clientID=${service.clientID}&access_token=${service.token}`;
    get = `GET /brands?${credentials} HTTP/1.1\r\nHost: a\r\n`;
  });

  const open = () => HalfOpenClient.connect(service.port);

  /** Expects an error response, and that the service closes a connection that its client leaves open. */
  async function expectRefused(client: HalfOpenClient): Promise<void> {
    await expectEachRefused(new Map([['the request', client]]));
  }

  /** Expects it of several connections at a time, since the service waits a second before it closes one. */
  async function expectEachRefused(clients: ReadonlyMap<string, HalfOpenClient>): Promise<void> {
    const answers = [...clients].map(async ([sent, client]) => {
      const responses = await client.untilEnd();
      const statuses = responses.map(({ status }) => status);
      return { sent, statuses, body: responses[0]?.body, headers: responses[0]?.headers };
    });
    for (const { body, ...answer } of await Promise.all(answers)) {
      expect({ ...answer, body: JSON.parse(body ?? 'null') as unknown }).toMatchObject({
        sent: answer.sent,
        statuses: [400],
        body: MALFORMED,
        headers: {
          connection: 'close',
          'content-type': 'application/json; charset=utf-8',
          'x-request-id': expect.any(String),
        },
      });
    }
    await until(async () => (await adapter.connectionCount()) === 0);
    for (const client of clients.values()) client.destroy();
  }

  it('is -20, and its connection is closed, however it announces the body', async () => {
    const clients = new Map<string, HalfOpenClient>();
    for (const [headers, body] of BODIES) {
      const client = await open();
      client.write(`${get}${headers}\r\n${body}`);
      clients.set(`${headers}${body.slice(0, 10)}`, client);
    }
    await expectEachRefused(clients);
  });

  it('is -20, whatever it asks for', async () => {
    const clients = new Map<string, HalfOpenClient>();
    for (const line of [
      'POST /brands',
      'DELETE /brands/b1',
      'PUT /nowhere',
      'OPTIONS /brands',
      'GET /docs',
      'GET /openapi.json',
      'GET /health/live',
      'GET /metrics',
    ]) {
      const client = await open();
      client.write(`${line} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na`);
      clients.set(line, client);
    }
    await expectEachRefused(clients);
  });

  it('is -20 in HTTP/1.0', async () => {
    const client = await open();
    client.write('GET /brands HTTP/1.0\r\nContent-Length: 9\r\n\r\na');
    await expectRefused(client);
  });

  it('is -20 as a preflight', async () => {
    const client = await open();
    const own = 'Origin: https://shop.example\r\nAccess-Control-Request-Method: GET\r\n';
    client.write(`OPTIONS /brands HTTP/1.1\r\nHost: a\r\n${own}Content-Length: 9\r\n\r\na`);
    await expectRefused(client);
  });

  it('gets the headers alone as HEAD', async () => {
    const client = await open();
    client.write('HEAD /brands HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na');
    expect(await client.untilEndAsText()).toMatch(/^HTTP\/1\.1 400 [^]*\r\n\r\n$/);
    client.destroy();
  });

  it('is refused before any place is taken', async () => {
    await whileOverloaded(service, async () => {
      const client = await open();
      client.write(`${get}Content-Length: 9\r\n\r\na`);
      await expectRefused(client);
    });
    expect(adapter.admission.size).toBe(0);
  });

  it('is refused while its body arrives without end', async () => {
    const client = await open();
    client.write(`${get}Content-Length: 4294967296\r\n\r\n`);
    client.flood(Buffer.alloc(65_536, 'a'));
    await expectRefused(client);
  });

  it('is refused after the answers to those before it, and nothing behind it is answered', async () => {
    const client = await open();
    const behind = `${get}\r\n`.repeat(20);
    client.write(`${get}\r\n${get}\r\n${get}Content-Length: 1\r\n\r\na${behind}nonsense\r\n\r\n`);
    client.flood(Buffer.from(behind));
    const responses = await client.untilEnd();
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 400]);
    await until(async () => (await adapter.connectionCount()) === 0);
    client.destroy();
  });

  it('is none with a length of 0', async () => {
    const responses = await service.get('/brands').set('Content-Length', '0');
    expect(responses.status).toBe(200);
  });
});
