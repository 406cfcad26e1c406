import type { Refused } from './exchange.js';

/** The bytes of a request, and the expected error responses. */
export type HostileRequest = readonly [name: string, bytes: string | Buffer, ...Refused[]];

const MALFORMED: Refused = [400, '-20'];
const UNKNOWN: Refused = [404, '-30'];
const NOT_ALLOWED: Refused = [405, '-32'];

const get = (target: string, more = ''): string =>
  `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const post = (headers: string, body = ''): string =>
  `POST /products HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`;
const chunked = (body: string): string => post('Transfer-Encoding: chunked\r\n', body);

/** Requests that HAProxy forwards. The service responds with an error. */
export const PASSED_ON: readonly HostileRequest[] = [
  ['an unknown method', 'FETCH /products HTTP/1.1\r\nHost: a\r\n\r\n', MALFORMED],
  ['a method in lower case', 'get /products HTTP/1.1\r\nHost: a\r\n\r\n', MALFORMED],
  ['no Host', 'GET /products HTTP/1.1\r\n\r\n', MALFORMED],
  ['no Host in HTTP/1.0', 'GET /nope HTTP/1.0\r\n\r\n', UNKNOWN],
  ['an unknown expectation', get('/products', 'Expect: tea\r\n'), MALFORMED],
  ['another scheme', get('ftp://a/products'), MALFORMED],
  ['a stray % in the path', get('/products/%'), MALFORMED],
  ['a bad escape in the path', get('/products/%zz'), MALFORMED],
  ['no UTF-8 in the path', get('/products/%ff'), MALFORMED],
  ['a stray % in the query', get('/products?limit=%'), MALFORMED],
  ['a path out of the root', get('/../../etc/passwd'), UNKNOWN],
  ['an escaped line break', get('/x%0d%0aSet-Cookie:%20a'), UNKNOWN],
  ['markup in the path', get('/"<script>'), UNKNOWN],
  ['the absolute form', get('http://a/nope'), UNKNOWN],
  ['OPTIONS of everything', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', UNKNOWN],
  ['TRACE', 'TRACE /products HTTP/1.1\r\nHost: a\r\n\r\n', NOT_ALLOWED],
  ['CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n', NOT_ALLOWED],
  ['POST', post('Content-Length: 0\r\n'), NOT_ALLOWED],
  [
    'an upgrade to HTTP/2',
    get('/nope', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n'),
    UNKNOWN,
  ],
  ['a URL of 17 kB', get(`/products?${'a'.repeat(17_000)}=1`), [414, '-34']],
  ['a URL of 60 kB', get(`/products?${'a'.repeat(60_000)}=1`), [431, '-34']],
  ['a header of 40 kB', get('/products', `X: ${'a'.repeat(40_000)}\r\n`), [431, '-34']],
  ['a header of 60 kB', get('/products', `X: ${'a'.repeat(60_000)}\r\n`), [431, '-34']],
  ['two requests at once', get('/nope') + get('/nope'), UNKNOWN, UNKNOWN],
];

/** Requests with a body, which HAProxy refuses by its rules, whatever its version. */
export const WITH_BODY: readonly HostileRequest[] = [
  ['a body', post('Content-Length: 3\r\n', 'abc'), MALFORMED],
  ['a body of GET', get('/products', 'Content-Length: 3\r\n') + 'abc', MALFORMED],
  ['a large body', get('/nope', 'Content-Length: 200000\r\n') + 'a'.repeat(200_000), MALFORMED],
  ['a length past 32 bits', post('Content-Length: 4294967296\r\n', 'a'), MALFORMED],
  ['a length past 31 bits', post('Content-Length: 2147483648\r\n', 'a'), MALFORMED],
  ['a length twice', post('Content-Length: 3\r\nContent-Length: 3\r\n', 'abc'), MALFORMED],
  ['chunks', chunked('3\r\nabc\r\n'), MALFORMED],
  ['no chunks', chunked('0\r\n\r\n'), MALFORMED],
  [
    'a length beside chunks',
    post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    MALFORMED,
  ],
  ['a body that is announced', post('Expect: 100-continue\r\nContent-Length: 3\r\n'), MALFORMED],
  [
    'another upgrade, with a body',
    post('Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 3\r\n', 'abc'),
    MALFORMED,
  ],
  [
    'a body behind a request',
    `${get('/nope')}${post('Content-Length: 3\r\n', 'abc')}${get('/nope')}`,
    UNKNOWN,
    MALFORMED,
  ],
];

/** Requests that HAProxy cannot parse. It responds with an error itself. */
export const UNPARSED: readonly HostileRequest[] = [
  ['no request line', 'hello\r\n\r\n', MALFORMED],
  ['no target', 'GET HTTP/1.1\r\nHost: a\r\n\r\n', MALFORMED],
  ['a space in the target', get('/products?a=b c'), MALFORMED],
  ['a NUL in the target', get('/prod\0ucts'), MALFORMED],
  ['a byte above 127 in the target', get('/brands?name=Zo\xeb'), MALFORMED],
  ['another protocol', 'GET /products HTTQ/1.1\r\nHost: a\r\n\r\n', MALFORMED],
  ['another version', 'GET /products HTTP/1.10\r\nHost: a\r\n\r\n', MALFORMED],
  ['HTTP/0.9', 'GET /products\r\n', MALFORMED],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', MALFORMED],
  [
    'HTTP/2',
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1'),
    MALFORMED,
  ],
  ['TLS', Buffer.from(`16030100a50100009f0303${'00'.repeat(160)}`, 'hex'), MALFORMED],
  ['bytes at random', Buffer.from('ff00fe017f80', 'hex'), MALFORMED],
  ['NULs', Buffer.alloc(200), MALFORMED],
  ['SSH', 'SSH-2.0-OpenSSH_9.2\r\n', MALFORMED],
  ['SMTP', 'EHLO a\r\n', MALFORMED],
  ['the protocol of proxies', `PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n${get('/')}`, MALFORMED],
  ['two Hosts', 'GET /products HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', MALFORMED],
  ['the absolute form of another Host', get('http://b/products'), MALFORMED],
  ['half an address', get('http://[/products'), MALFORMED],
  ['a target without a slash', get('products'), MALFORMED],
  ['an authority as the target', get('a:80'), MALFORMED],
  ['a fragment', get('/products#top'), MALFORMED],
  ['a header without a colon', get('/products', 'nonsense\r\n'), MALFORMED],
  ['a header without a name', get('/products', ': x\r\n'), MALFORMED],
  ['a space in a header name', get('/products', 'X Y: z\r\n'), MALFORMED],
  ['a space before the colon', get('/products', 'X : z\r\n'), MALFORMED],
  ['a control character in a header name', get('/products', 'X\x01: z\r\n'), MALFORMED],
  ['a NUL in a header', get('/products', 'X: a\0b\r\n'), MALFORMED],
  ['a bare CR in a header', get('/products', 'X: a\rb\r\n'), MALFORMED],
  ['a list of lengths', post('Content-Length: 3, 4\r\n', 'abc'), MALFORMED],
  ['a length below zero', post('Content-Length: -1\r\n'), MALFORMED],
  ['a length with a sign', post('Content-Length: +3\r\n', 'abc'), MALFORMED],
  ['a hexadecimal length', post('Content-Length: 0x3\r\n', 'abc'), MALFORMED],
  ['a length past 64 bits', post('Content-Length: 99999999999999999999\r\n'), MALFORMED],
  ['an empty length', post('Content-Length:\r\n'), MALFORMED],
  ['an unknown encoding', post('Transfer-Encoding: gzip\r\n'), MALFORMED],
  ['an encoding after chunks', post('Transfer-Encoding: chunked, gzip\r\n'), MALFORMED],
  ['nearly chunks', post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'), MALFORMED],
  ['chunks after a control character', post('Transfer-Encoding:\x0bchunked\r\n'), MALFORMED],
  ['a space before the colon of chunks', post('Transfer-Encoding : chunked\r\n'), MALFORMED],
  ['a bad size of a chunk', chunked('zz\r\n'), MALFORMED],
  ['a size of a chunk below zero', chunked('-1\r\n'), MALFORMED],
  ['a size of a chunk past 64 bits', chunked(`${'f'.repeat(17)}\r\n`), MALFORMED],
  ['a chunk longer than its size', chunked('3\r\nabcX'), MALFORMED],
  ['CONNECT without a port', 'CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n', MALFORMED],
  ['more headers than it counts', get('/products', 'a: b\r\n'.repeat(150)), MALFORMED],
  ['a URL of 70 kB', get(`/products?${'a'.repeat(70_000)}=1`), [414, '-34']],
];

/** Requests that HAProxy cannot parse. 3.2.26 closes the connection instead of sending the error that it has counted. */
export const CLOSED: readonly HostileRequest[] = [
  ['two lengths', post('Content-Length: 1\r\nContent-Length: 2\r\n', 'ab'), MALFORMED],
  ['a body in HTTP/1.0', 'GET /products HTTP/1.0\r\nContent-Length: 2\r\n\r\nab', MALFORMED],
];
