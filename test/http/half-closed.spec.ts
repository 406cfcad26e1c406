import { beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { EnvelopedServer } from '#server/http/server/enveloped-server.js';
import type { EnvelopedExpressAdapter } from '#server/http/server/enveloped-express.adapter.js';
import { sharedService } from '../service.js';
import { until } from '../until.js';
import { HalfOpenClient } from './half-open-client.js';

describe('A client that ends its direction after its requests', () => {
  const service = sharedService();
  let adapter: EnvelopedExpressAdapter;
  let head: string;

  beforeAll(async () => {
    adapter = service.application.getHttpAdapter() as unknown as EnvelopedExpressAdapter;
    await service.load(
      'brands',
      Array.from({ length: 1000 }, (_, at) => ({ brandID: `b${at}`, name: 'x'.repeat(400) })),
    );
    const { clientID, token } = service;
    head = `Host: a\r\nX-Client-ID: ${clientID}\r\nAuthorization: Bearer ${token}\r\n`;
  });

  const get = (target: string, more = ''): string => `GET ${target} HTTP/1.1\r\n${head}${more}\r\n`;

  async function ask(bytes: string): Promise<HalfOpenClient> {
    const client = await HalfOpenClient.connect(service.port);
    client.write(bytes);
    client.end();
    return client;
  }

  const untilClosed = () => until(async () => (await adapter.connectionCount()) === 0);

  async function statuses(client: HalfOpenClient): Promise<number[]> {
    return (await client.untilEnd()).map(({ status }) => status);
  }

  it('gets the answer, and its connection is closed', async () => {
    expect(await statuses(await ask(get('/brands?offset=1')))).toEqual([200]);
    await untilClosed();
  });

  it('gets the answers to all requests that it sent ahead', async () => {
    const bytes = Array.from({ length: 20 }, (_, at) => get(`/brands?limit=9&offset=${at}`));
    expect(await statuses(await ask(bytes.join('')))).toEqual(Array(20).fill(200));
    await untilClosed();
  });

  it('gets them whole if they are larger than what a connection takes', async () => {
    const bytes = Array.from({ length: 20 }, (_, at) => get(`/brands?limit=1000&offset=${at}`));
    const client = await HalfOpenClient.connect(service.port);
    client.pause();
    client.write(bytes.join(''));
    client.end();
    await until(() => adapter.http.deliveries.bytes > 0);
    client.resume();
    expect(await statuses(client)).toEqual(Array(20).fill(200));
    await untilClosed();
  });

  it('gets a whole list', async () => {
    const client = await ask(get('/brands', 'Accept: application/x-ndjson\r\n'));
    const text = await client.untilEndAsText();
    expect(text.match(/"brandID"/g)).toHaveLength(1000);
    expect(text).toMatch(/\r\n0\r\n\r\n$/);
    await untilClosed();
  });

  it('gets the answers before that to what is malformed', async () => {
    const answered = get('/brands?offset=3');
    expect(await statuses(await ask(`${answered}${answered}GET /bra`))).toEqual([200, 200, 400]);
    await untilClosed();
  });

  it('gets the answers before that to a request with a body', async () => {
    const body = get('/brands', 'Content-Length: 9\r\n');
    expect(await statuses(await ask(`${get('/brands')}${body}a`))).toEqual([200, 400]);
    await untilClosed();
  });

  it('gets nothing if it sent nothing', async () => {
    expect(await statuses(await ask(''))).toEqual([]);
    await untilClosed();
  });

  it('gets its answers among hundreds of such clients', async () => {
    const clients = await Promise.all(
      Array.from({ length: 366 }, (_, at) => ask(get(`/brands?limit=9&offset=${at}`).repeat(3))),
    );
    const counts = await Promise.all(
      clients.map(async (client) => (await statuses(client)).length),
    );
    expect(counts).toEqual(Array(366).fill(3));
    await untilClosed();
  });
});

it('A client that has ended its direction gets every answer of a server that closes', async () => {
  const answers: (() => unknown)[] = [];
  const enveloped = new EnvelopedServer(
    { answer: ({ url }, response) => answers.push(() => response.end(url)) },
    10,
  );
  await once(enveloped.server.listen(0, '127.0.0.1'), 'listening');
  const { port } = enveloped.server.address() as AddressInfo;
  const client = await HalfOpenClient.connect(port);
  const requests = ['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  client.write(requests.join(''));
  const socket = (
    (await once(enveloped.server, 'request')) as [{ socket: NodeJS.ReadableStream }]
  )[0];
  const closed = enveloped.close();
  client.write('GET /4 HTTP/1.1\r\nHost: a\r\n\r\n');
  client.end();
  await once(socket.socket, 'end');
  for (const answer of answers) answer();
  await closed;
  const responses = await client.untilEnd();
  expect(responses.map(({ body }) => body)).toEqual(['/1', '/2', '/3', '/4']);
  const last = responses.filter(({ headers }) => headers.connection === 'close');
  expect(last.map(({ body }) => body)).toEqual(['/4']);
});
