import { beforeAll, describe, expect, it } from '@jest/globals';
import { refusal, sharedService } from '../service.js';
import { rawRequest, type RawResponse } from './raw-request.js';

const service = sharedService();
let credentials: string;

beforeAll(() => {
  credentials = `clientID=${service.clientID}&access_token=${service.token}`;
});

async function send(bytes: string | Buffer): Promise<RawResponse> {
  const [response] = await rawRequest(service.port, bytes);
  if (!response) throw new Error('The connection was closed without an answer');
  return response;
}

const get = (target: string, more = '') =>
  send(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`);

function expectRefusal(response: RawResponse, status: number, errcode: number, msg: string): void {
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(response.headers['x-request-id']).toBeDefined();
  expect(Date.parse(response.headers.date ?? '')).toBeGreaterThan(Date.now() - 60_000);
  expect(response.headers['x-content-type-options']).toBe('nosniff');
  expect(response.headers['content-security-policy']).toBe(
    "default-src 'none';frame-ancestors 'none'",
  );
  expect({ status: response.status, body: JSON.parse(response.body) }).toEqual({
    status,
    body: refusal(errcode, msg),
  });
}

describe('A request that is never whole', () => {
  it.each([
    ['half a head', 'GET /brands HTTP/1.1\r\nHost: a\r\n'],
    ['half a request line', 'GET /bra'],
  ])('gets the envelope when its time is over: %s', async (_, bytes) => {
    const server = service.application.getHttpServer();
    const { headersTimeout } = server;
    server.headersTimeout = 300;
    try {
      expectRefusal(await send(bytes), 400, -20, 'The request is malformed');
    } finally {
      server.headersTimeout = headersTimeout;
    }
  });
});

describe('What cannot be parsed gets the envelope', () => {
  it.each([
    ['no request line', 'hello\r\n\r\n'],
    ['an unknown method', 'FETCH /products HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a method in lower case', 'get /products HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['no target', 'GET HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a space in the target', 'GET /products?a=b c HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['another protocol', 'GET /products HTTQ/1.1\r\nHost: a\r\n\r\n'],
    ['another version', 'GET /products HTTP/3.7\r\nHost: a\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['no Host', 'GET /products HTTP/1.1\r\n\r\n'],
    ['a header without a colon', 'GET /products HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n'],
    ['a space in a header name', 'GET /products HTTP/1.1\r\nHost: a\r\nX Y: z\r\n\r\n'],
    ['a NUL in a header', 'GET /products HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n'],
    ['a bare CR in a header', 'GET /products HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n'],
    ['an unknown expectation', 'GET /products HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n'],
    ['two Hosts', 'GET /products HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['half an address', 'GET http://[/products HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an address of nothing', 'GET http:// HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['another scheme', 'GET ftp://a/products HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a fragment', 'GET /products#top HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a fragment in the query', 'GET /products?a=1#top HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a stray % in the path', 'GET /products/% HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a bad escape in the path', 'GET /products/%zz HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['no UTF-8 in the path', 'GET /products/%ff HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a stray % in the query', 'GET /products?limit=% HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['half an escape in the query', 'GET /products?limit=%4 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a bad escape in a name', 'GET /products?%zz=1 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a byte above 127 in the target', 'GET /brands?name=Zo\xeb HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['bytes at random', Buffer.from('16030100a50100009f0303', 'hex')],
  ])('%s', async (_, bytes) => {
    expectRefusal(await send(bytes), 400, -20, 'The request is malformed');
  });

  it('a URL that is too large', async () => {
    const response = await get(`/products?${'a'.repeat(17_000)}=1`);
    expectRefusal(response, 414, -34, 'The request is too large');
  });

  it('headers that are too large', async () => {
    const response = await get('/products', `X-Large: ${'a'.repeat(40_000)}\r\n`);
    expectRefusal(response, 431, -34, 'The request is too large');
  });

  it('CONNECT', async () => {
    const response = await send('CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n');
    expectRefusal(response, 405, -32, 'The method CONNECT is not allowed for this resource');
    expect(response.headers.allow).toBe('GET, HEAD, OPTIONS');
  });

  it('an unknown path, whatever the method', async () => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE', 'PROPFIND', 'TRACE']) {
      const response = await send(`${method} /nope HTTP/1.1\r\nHost: a\r\n\r\n`);
      expectRefusal(response, 404, -30, 'There is no resource at /nope');
    }
  });

  it.each([
    '/',
    '//products',
    '/products/',
    '/Products',
    '/products//',
    '/products/a/b',
    '/%70roducts',
  ])('the path %s, which is not /products', async (path) => {
    expectRefusal(await get(path), 404, -30, `There is no resource at ${path}`);
  });

  it('the absolute form of no path', async () => {
    expectRefusal(await get('http://anyone?a=1'), 404, -30, 'There is no resource at /');
  });

  it('OPTIONS of everything', async () => {
    const response = await send('OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n');
    expectRefusal(response, 404, -30, 'There is no resource at *');
  });

  it('after the answers that the connection still owes', async () => {
    const good = `GET /brands?${credentials} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const responses = await rawRequest(service.port, `${good}${good}nonsense\r\n\r\n`, 3);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 400]);
  });
});

describe('What is unusual but right is answered', () => {
  it('the absolute form of a target', async () => {
    expect((await get(`http://anyone/brands?${credentials}`)).status).toBe(200);
  });

  it('more headers than Node counts', async () => {
    const { clientID, token } = service;
    const many = 'a:b\r\n'.repeat(2500);
    const own = `X-Client-ID: ${clientID}\r\nAuthorization: Bearer ${token}\r\n`;
    expect((await get('/brands', many + own)).status).toBe(200);
  });

  it('HTTP/1.0 without a Host', async () => {
    expect((await send(`GET /brands?${credentials} HTTP/1.0\r\n\r\n`)).status).toBe(200);
  });

  it('Expect: 100-continue, which a request without a body need not wait for', async () => {
    expect((await get(`/brands?${credentials}`, 'Expect: 100-continue\r\n')).status).toBe(200);
  });
});

describe('An undefined parameter gets -23, by its decoded name', () => {
  const cases = [
    ['__proto__=1', '__proto__'],
    ['__proto__[x]=1', '__proto__[x]'],
    ['constructor=1', 'constructor'],
    ['prototype=1', 'prototype'],
    ['toString=1', 'toString'],
    ['hasOwnProperty=1', 'hasOwnProperty'],
    ['valueOf=1', 'valueOf'],
    ['__defineGetter__=1', '__defineGetter__'],
    ['type[]=PHYSICAL', 'type[]'],
    ['type%5B%5D=PHYSICAL', 'type[]'],
    ['type[a]=PHYSICAL', 'type[a]'],
    ['TYPE=PHYSICAL', 'TYPE'],
    ['limit%20=1', 'limit '],
    ['+limit=1', ' limit'],
    ['limit%00=1', 'limit\0'],
    ['=x', ''],
    ['=', ''],
    ['nonsense', 'nonsense'],
    ['a%26b=1', 'a&b'],
    ['a%3Db=1', 'a=b'],
    ['%C3%A9=1', 'é'],
    ['%FF=1', '\ufffd'],
    ['nonsense=%FF', 'nonsense'],
    ['2=1&1=1', '2'],
    ['limit=1&b=1&a=1', 'b'],
    ['limit=abc&b=1', 'b'],
    ['limit=1&limit=1&b=1', 'b'],
    [`${'&'.repeat(2000)}b=1`, 'b'],
    [`${'limit=1&'.repeat(1000)}b=1`, 'b'],
    ['%22%3Cb%3E=1', '"<b>'],
    ['client_id=1', 'client_id'],
    ['callback=f', 'callback'],
  ];

  it.each(cases.map(([query = '', name]) => [query.slice(0, 60), query, name]))(
    '%s',
    async (_, query = '', name) => {
      for (const path of [
        '/products',
        '/products/none',
        '/categories',
        '/brands',
        '/brands/none',
      ]) {
        const allowed = path.endsWith('/none') ? query.replaceAll('limit=1&', '') : query;
        if (path.endsWith('/none') && allowed.startsWith('limit=')) continue;
        const response = await get(`${path}?${credentials}&${allowed}`);
        expectRefusal(
          response,
          400,
          -23,
          `The parameter ${name} must not be present in this request`,
        );
      }
    },
  );
});
