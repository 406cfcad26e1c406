import { describe, expect, it } from '@jest/globals';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { listen } from '#server/cli/listen.js';
import { Admission } from '#server/http/server/admission.js';
import type { EnvelopedExpressAdapter } from '#server/http/server/enveloped-express.adapter.js';
import { Settings } from '#server/settings/settings.js';
import { refusal, sharedService, whileOverloaded } from '../service.js';
import { until } from '../until.js';
import { rawRequest, type RawResponse } from './raw-request.js';

it('The requests in work are 10 for each connection to the database, a quarter of them on one client connection', () => {
  const limits = [1, 3, 10, 100].map((poolSize) => {
    const { maximum, connectionMaximum } = Admission.of(poolSize);
    return [maximum, connectionMaximum];
  });
  expect(limits).toEqual([
    [10, 8],
    [30, 8],
    [100, 25],
    [1000, 250],
  ]);
});

it('A thousand connections at once all find a place, though none is accepted for a while', async () => {
  const server = createServer();
  const address = await listen(server, 'PORT', 0, new Settings({ HOST: '127.0.0.1' }));
  const child = fork('test/fixtures/connect-at-once.mjs', [new URL(address).port, '1000']);
  try {
    await once(child, 'message');
    child.send('now');
    blockFor(700);
    const [connected] = (await once(child, 'message')) as [number];
    expect(connected).toBe(1000);
  } finally {
    child.kill();
    server.closeAllConnections();
    server.close();
  }
});

describe('A refusal for overload', () => {
  const service = sharedService({ MAX_REQUESTS_PER_CLIENT: '4' });

  const ask = async (line: string, head = ''): Promise<RawResponse> => {
    const [response] = await rawRequest(
      service.port,
      `${line} HTTP/1.1\r\nHost: catalogue\r\n${head}\r\n`,
    );
    if (!response) throw new Error(`There is no response to ${line}`);
    return response;
  };

  it('has the envelope and the headers of any other error', async () => {
    const other = await ask('GET /nowhere');
    const busy = await whileOverloaded(service, () => ask('GET /brands'));
    expect([busy.status, JSON.parse(busy.body)]).toEqual([503, refusal(-4, 'The service is busy')]);
    const { 'retry-after': retryAfter, ...rest } = busy.headers;
    expect(retryAfter).toBe('1');
    const own = { 'content-length': expect.anything(), 'x-request-id': expect.anything() };
    expect(rest).toEqual({ ...other.headers, date: expect.anything(), ...own });
    expect(rest['x-request-id']).not.toBe(other.headers['x-request-id']);
  });

  it('has the id of its request, unless that is the token', async () => {
    const [named, secret] = await whileOverloaded(service, () =>
      Promise.all([
        ask('GET /brands', 'X-Request-Id: mine\r\n'),
        ask('GET /brands?access_token=hidden', 'X-Request-Id: hidden\r\n'),
      ]),
    );
    expect(named.headers['x-request-id']).toBe('mine');
    expect(JSON.stringify(secret)).not.toContain('hidden');
  });

  it('is sent without a body to HEAD, and with one to OPTIONS and to what is malformed', async () => {
    const [head, options, malformed] = await whileOverloaded(service, () =>
      Promise.all([
        service.anonymous().head('/brands').expect(503),
        ask('OPTIONS /brands'),
        ask('GET /brands?%zz'),
      ]),
    );
    expect(head.text).toBeUndefined();
    expect(head.headers['content-length']).toBe(String(options.body.length));
    expect(JSON.parse(options.body)).toEqual(refusal(-4, 'The service is busy'));
    expect(JSON.parse(malformed.body)).toEqual(refusal(-4, 'The service is busy'));
  });

  it('is for a client with half of its requests in work while there are others, and not for those', async () => {
    const { admission } = service.application.getHttpAdapter() as EnvelopedExpressAdapter;
    const other = await service.newClient('other');
    const runner = service.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query('LOCK TABLE brands');
      const waiting = [1, 2].map((offset) =>
        service
          .get(`/brands?offset=${offset}`)
          .expect(200)
          .then(() => undefined),
      );
      await until(() => admission.size === 2);
      // It has more while it is the only one.
      await service.get('/categories').expect(200);
      await other.get('/categories').expect(200);
      await service.get('/categories').expect(503, refusal(-4, 'The service is busy'));
      await runner.commitTransaction();
      await Promise.all(waiting);
      await service.get('/categories').expect(200);
    } finally {
      await runner.release();
    }
  });

  it('is counted in the metrics', async () => {
    const refusals = async (): Promise<number> => {
      const { text } = await service.anonymous().get('/metrics').expect(200);
      return Number(/^catalogue_refusals_total\{errcode="-4"\} (\d+)/m.exec(text)?.[1] ?? 0);
    };
    const before = await refusals();
    await whileOverloaded(service, () => Promise.all([ask('GET /brands'), ask('GET /products')]));
    // The text of the metrics is kept for a moment.
    await until(async () => (await refusals()) === before + 2);
  });
});

/** Keeps the event loop busy for some milliseconds. */
function blockFor(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
}
