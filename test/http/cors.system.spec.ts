import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { freePort } from '../free-port.js';
import { openStartupServer } from '#server/cli/startup-server.js';
import type { EnvelopedExpressAdapter } from '#server/http/server/enveloped-express.adapter.js';
import { Settings } from '#server/settings/settings.js';
import { describeInBrowser, executablePath } from '../chromium.js';
import { refusal, type Service, sharedService, startService, whileOverloaded } from '../service.js';
import { until } from '../until.js';
import { rawRequest, type RawResponse } from './raw-request.js';

const SHOP = 'https://shop.example.com';
const OTHER = 'https://other.example.com';
const VARY = 'Accept, Authorization, Accept-Encoding';

/** The headers of a response that depend on CORS, by their names without `Access-Control-`. */
function corsOf({ headers }: Pick<RawResponse, 'headers'>): Record<string, string> {
  const names = Object.keys(headers).filter(
    (name) =>
      name.startsWith('access-control-') || ['vary', 'cross-origin-resource-policy'].includes(name),
  );
  return Object.fromEntries(
    names.map((name) => [name.replace(/^access-control-/, ''), headers[name] ?? '']),
  );
}

const WITHOUT = { vary: VARY, 'cross-origin-resource-policy': 'same-origin' };
const REFUSED = { ...WITHOUT, vary: `${VARY}, Origin` };

const EXPOSED =
  'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Total-Count, ' +
  'X-Updated-Until, ETag, Link, Retry-After, Preference-Applied, Allow, WWW-Authenticate';

/** The headers of a response to an allowed origin. */
function allowed(origin: string): Record<string, string> {
  return {
    vary: origin === '*' ? VARY : `${VARY}, Origin`,
    'cross-origin-resource-policy': 'cross-origin',
    'allow-origin': origin,
    'expose-headers': EXPOSED,
  };
}

/** The headers of the answer to a preflight of an allowed origin. */
function preflightAllowed(origin: string): Record<string, string> {
  return {
    ...allowed(origin),
    'allow-methods': 'GET, HEAD, OPTIONS',
    'allow-headers': 'Authorization, X-Client-ID, X-Request-Id, If-None-Match, Prefer',
    'max-age': '7200',
  };
}

const PREFLIGHT = 'Access-Control-Request-Method: GET\r\n';

async function send(port: number, line: string, headers: string): Promise<RawResponse> {
  const [response] = await rawRequest(port, `${line} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
  if (!response) throw new Error('There is no response');
  return response;
}

function credentials({ clientID, token }: Service): string {
  return `X-Client-ID: ${clientID}\r\nAuthorization: Bearer ${token}\r\n`;
}

async function load(service: Service): Promise<void> {
  await service.load('brands', [
    { brandID: 'a', name: 'A' },
    { brandID: 'b', name: 'B' },
  ]);
}

/** Every kind of response, as a request line and headers, with its status. */
function kinds(service: Service): [line: string, headers: string, status: number][] {
  const known = credentials(service);
  return [
    ['GET /brands', known, 200],
    ['OPTIONS /brands', known, 200],
    ['GET /brands/a', known, 200],
    ['GET /brands', `${known}If-None-Match: *\r\n`, 304],
    ['GET /brands/a', `${known}If-None-Match: *\r\n`, 304],
    ['GET /brands?limit=1', `${known}Accept: text/csv\r\n`, 200],
    ['GET /openapi.json', '', 200],
    ['GET /docs', '', 200],
    ['GET /', 'Accept: text/html\r\n', 302],
    ['GET /brands', '', 401],
    ['GET /brands?colour=red', known, 400],
    ['GET /brands/none', known, 404],
    ['GET /nothing', known, 404],
    ['POST /brands', known, 405],
    ['GET /brands?limit=%zz', known, 400],
    [`GET /brands?q=${'a'.repeat(17_000)}`, known, 414],
    ['GET /brands', `${known}Expect: nothing\r\n`, 400],
  ];
}

/** What Node's parser refuses. */
const UNPARSED: [bytes: string, status: number][] = [
  ['nonsense\r\n\r\n', 400],
  [`GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
  ['CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 405],
];

describe('Without CORS_ORIGINS', () => {
  const service = sharedService();

  beforeAll(async () => {
    await load(service);
  });

  it('no response says anything to pages of other origins', async () => {
    for (const [line, headers, status] of kinds(service)) {
      for (const origin of ['', `Origin: ${SHOP}\r\n`]) {
        const response = await send(service.port, line, origin + headers);
        expect([line, response.status, corsOf(response)]).toEqual([line, status, WITHOUT]);
      }
    }
    for (const [bytes, status] of UNPARSED) {
      const [response] = await rawRequest(service.port, bytes);
      expect([response?.status, response && corsOf(response)]).toEqual([status, WITHOUT]);
    }
  });

  it('a preflight is an OPTIONS like any other', async () => {
    const head = `Origin: ${SHOP}\r\n${PREFLIGHT}`;
    const stranger = await send(service.port, 'OPTIONS /brands', head);
    expect([stranger.status, corsOf(stranger)]).toEqual([401, WITHOUT]);
    const known = await send(service.port, 'OPTIONS /brands', head + credentials(service));
    expect(JSON.parse(known.body)).toMatchObject({ result: { errcode: '0' } });
    expect(known.headers.allow).toBe('GET, HEAD, OPTIONS');
  });
});

describe.each([
  { setting: '*', origin: SHOP, answered: '*', others: allowed('*') },
  { setting: `http://localhost:5173, ${SHOP}`, origin: SHOP, answered: SHOP, others: REFUSED },
])('With CORS_ORIGINS=$setting', ({ setting, origin, answered, others }) => {
  const service = sharedService({ CORS_ORIGINS: setting });

  beforeAll(async () => {
    await load(service);
  });

  it('every response can be read by a page of an allowed origin', async () => {
    for (const [line, headers, status] of kinds(service)) {
      const response = await send(service.port, line, `Origin: ${origin}\r\n${headers}`);
      expect([line, response.status, corsOf(response)]).toEqual([line, status, allowed(answered)]);
    }
  });

  it.each([
    ['no origin', ''],
    ['another origin', `Origin: ${OTHER}\r\n`],
    ['an opaque origin', 'Origin: null\r\n'],
    ['two origins', `Origin: ${SHOP}\r\nOrigin: ${SHOP}\r\n`],
  ])('a response to a request with %s has the headers for all others', async (_, head) => {
    for (const [line, headers, status] of kinds(service)) {
      const response = await send(service.port, line, head + headers);
      expect([line, response.status, corsOf(response)]).toEqual([line, status, others]);
    }
  });

  it('so has one to what is no valid request, whose origin is unknown', async () => {
    for (const [bytes, status] of UNPARSED) {
      const [response] = await rawRequest(service.port, bytes);
      expect([response?.status, response && corsOf(response)]).toEqual([status, others]);
    }
  });

  it('a preflight is answered before every other check, on any path', async () => {
    const paths = ['/brands', '/brands/none?colour=red', '/nothing', '/brands?limit=%zz', '/'];
    for (const path of [...paths, `/brands?q=${'a'.repeat(17_000)}`]) {
      const response = await send(
        service.port,
        `OPTIONS ${path}`,
        `Origin: ${origin}\r\n${PREFLIGHT}Access-Control-Request-Headers: x-client-id\r\n`,
      );
      expect([path, response.status, response.body]).toEqual([path, 204, '']);
      expect(corsOf(response)).toEqual(preflightAllowed(answered));
      expect(response.headers).toMatchObject({ 'x-request-id': expect.stringMatching(/./) });
      expect(response.headers['content-length']).toBeUndefined();
    }
  });

  it('a preflight is answered also while the service is overloaded', async () => {
    const head = `Origin: ${origin}\r\n${PREFLIGHT}`;
    const [preflight, busy] = await whileOverloaded(service, () =>
      Promise.all([
        send(service.port, 'OPTIONS /brands', head),
        send(service.port, 'GET /brands', `Origin: ${origin}\r\n${credentials(service)}`),
      ]),
    );
    expect(preflight.status).toBe(204);
    expect([busy.status, corsOf(busy)]).toEqual([503, allowed(answered)]);
  });

  it('a preflight of another origin is answered 204, too, and allowed by * alone', async () => {
    const head = `Origin: ${OTHER}\r\n${PREFLIGHT}`;
    const response = await send(service.port, 'OPTIONS /brands', head);
    expect(response.status).toBe(204);
    expect(corsOf(response)).toEqual(setting === '*' ? preflightAllowed('*') : REFUSED);
  });

  it('OPTIONS without a method to ask for is no preflight', async () => {
    const options = service.anonymous().options('/brands').set('Origin', origin);
    await options.expect(401, refusal(-10, 'The parameter clientID is required'));
    const nobody = service
      .anonymous()
      .options('/brands')
      .set('Access-Control-Request-Method', 'GET');
    await nobody.expect(401);
  });

  it('health and metrics are for no page', async () => {
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      const get = await send(service.port, `GET ${path}`, `Origin: ${origin}\r\n`);
      expect([get.status, corsOf(get)]).toEqual([200, WITHOUT]);
      const head = `Origin: ${origin}\r\n${PREFLIGHT}`;
      const preflight = await send(service.port, `OPTIONS ${path}`, head);
      expect([preflight.status, corsOf(preflight)]).toEqual([405, WITHOUT]);
    }
  });

  it('a service that waits for its database is readable too', async () => {
    const [port, adminPort] = [await freePort(), await freePort()];
    const settings = new Settings({ CORS_ORIGINS: setting, HOST: '127.0.0.1' });
    const ports = settings.with({ port, adminPort });
    const close = await openStartupServer(ports, () => 'database');
    const head = `Origin: ${origin}\r\n`;
    const responses = [
      await send(port, 'OPTIONS /brands', head + PREFLIGHT),
      await send(port, 'GET /brands', head),
      ...(await rawRequest(port, 'nonsense\r\n\r\n')),
      await send(adminPort, 'OPTIONS /brands', head + PREFLIGHT),
    ];
    close();
    expect(responses.map((response) => [response.status, corsOf(response)])).toEqual([
      [204, preflightAllowed(answered)],
      [503, allowed(answered)],
      [400, others],
      [503, WITHOUT],
    ]);
    expect(responses[1]?.headers['retry-after']).toBe('1');
  });

  it('a page may send and read every header of the OpenAPI document', async () => {
    const { body } = await service.anonymous().get('/openapi.json').expect(200);
    const { headers, securitySchemes, parameters } = body.components;
    // Every page may read Cache-Control, and the browser evaluates the other two.
    const own = ['Cache-Control', 'Vary', 'Content-Encoding'];
    const readable = Object.keys(headers as object).filter((name) => !own.includes(name));
    // Allow comes with OPTIONS and with 405, which the document does not describe.
    expect(EXPOSED.split(', ').sort()).toEqual([...readable, 'Allow'].sort());
    // X-Request-Id is described as a header of responses, which repeat it.
    const sent = [
      'X-Request-Id',
      ...Object.values<{ name: string }>(parameters).map(({ name }) => name),
    ];
    const credential = Object.keys(securitySchemes as object).filter((name) => /^[A-Z]/.test(name));
    const { 'allow-headers': names = '' } = preflightAllowed(origin);
    expect(names.split(', ').sort()).toEqual([...sent, ...credential].sort());
  });
});

/** A server of empty pages. */
async function openPages(): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Shop</title>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** What a page finds out about a response. */
interface Seen {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

describeInBrowser('In a browser, a page of another origin', () => {
  let browser: Browser;
  let servers: Server[];
  let shop: string;
  let stranger: string;
  const services: Service[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath });
    servers = await Promise.all([openPages(), openPages()]);
    [shop = '', stranger = ''] = servers.map(
      (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    );
  });
  afterAll(async () => {
    await browser.close();
    for (const server of servers) server.close();
    await Promise.all(services.map((service) => service.stop()));
  });

  async function start(origins: string): Promise<Service> {
    const service = await startService({ CORS_ORIGINS: origins, RATE_LIMIT_PER_MINUTE: '600' });
    services.push(service);
    await load(service);
    return service;
  }

  async function open(origin: string): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(origin);
    return page;
  }

  /** Fetches from the page, with credentials in headers. Rejects if the page may not read the response. */
  function fetchFrom(
    page: Page,
    { port, headers: credentials }: Service,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<Seen> {
    const init = { headers: { ...credentials, ...headers } };
    // A text, because types of the browser are not those of Node.
    return page.evaluate<Seen>(`(async () => {
      const response = await fetch(${JSON.stringify(`http://127.0.0.1:${port}${path}`)}, ${JSON.stringify(init)});
      const { status, headers } = response;
      return { status, headers: Object.fromEntries(headers), text: await response.text() };
    })()`);
  }

  it.each(['its origin', '*'])(
    'reads responses and their headers, with %s allowed',
    async (name) => {
      const service = await start(name === '*' ? '*' : shop);
      const page = await open(shop);

      const list = await fetchFrom(page, service, '/brands?limit=1', {
        'X-Request-Id': 'of-a-page',
      });
      expect(list.status).toBe(200);
      expect(JSON.parse(list.text)).toMatchObject({ response_data: { count: '2' } });
      expect(list.headers).toMatchObject({
        'x-request-id': 'of-a-page',
        link: expect.stringContaining('<?limit=1&offset=1>; rel="next"'),
        etag: expect.stringMatching(/^W\//),
        'x-ratelimit-limit': '600',
        'x-ratelimit-remaining': '599',
      });

      const { etag = '' } = list.headers;
      const unchanged = await fetchFrom(page, service, '/brands?limit=1', {
        'If-None-Match': etag,
      });
      expect([unchanged.status, unchanged.text]).toEqual([304, '']);

      // The browser asks by itself, and gives the page its copy. It remembers the preflight.
      const adapter = service.application.getHttpAdapter() as unknown as EnvelopedExpressAdapter;
      const statuses: number[] = [];
      adapter.attach({ observe: ({ status }) => statuses.push(status) });
      const again = await fetchFrom(page, service, '/brands?limit=1');
      await until(() => statuses.length > 0, 5000);
      expect([again.status, again.text, statuses]).toEqual([200, list.text, [304]]);

      const one = await fetchFrom(page, service, '/brands/a');
      const same = await fetchFrom(page, service, '/brands/a', {
        'If-None-Match': one.headers.etag ?? '',
      });
      expect([one.status, same.status]).toEqual([200, 304]);

      const whole = await fetchFrom(page, service, '/brands', { Accept: 'application/x-ndjson' });
      expect(whole.headers['x-total-count']).toBe('2');
      expect(whole.text.split('\n')).toHaveLength(3);

      const wrong = await fetchFrom(page, service, '/brands?colour=red');
      expect(JSON.parse(wrong.text)).toEqual(
        refusal(-23, 'The parameter colour must not be present in this request'),
      );
      const malformed = await fetchFrom(page, service, '/brands?limit=%zz');
      expect(JSON.parse(malformed.text)).toEqual(refusal(-20, 'The request is malformed'));
      const busy = await whileOverloaded(service, () =>
        fetchFrom(page, service, '/brands?limit=2'),
      );
      expect([busy.status, busy.headers['retry-after']]).toEqual([503, '1']);
      await page.close();
    },
  );

  it('reads nothing if its origin is not allowed', async () => {
    const [listed, none] = [await start(shop), await start('')];
    const [page, ofShop] = [await open(stranger), await open(shop)];
    for (const [from, service] of [
      [page, listed],
      [page, none],
      [ofShop, none],
    ] as const) {
      await expect(fetchFrom(from, service, '/brands')).rejects.toThrow('Failed to fetch');
      // Without a preflight, too.
      const { port, clientID, token } = service;
      const url = `http://127.0.0.1:${port}/brands?clientID=${clientID}&access_token=${token}`;
      const simple = from.evaluate(`fetch(${JSON.stringify(url)})`);
      await expect(simple).rejects.toThrow('Failed to fetch');
    }
    await page.close();
    await ofShop.close();
  });
});
