import { afterEach, expect, it, jest } from '@jest/globals';
import { sharedService } from '../service.js';
import { until } from '../until.js';
import { rawRequest } from './raw-request.js';

const service = sharedService({ LOG_LEVEL: 'info' });
let written = '';

afterEach(() => {
  jest.restoreAllMocks();
});

const escaped = (text: string): string =>
  text.replace(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);

/** Sends a request line and headers, and returns all of the response and of the log. */
async function exposed(line: string, headers: string): Promise<string> {
  written = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    written += String(chunk);
    return true;
  });
  const bytes = `GET ${line} HTTP/1.1\r\nHost: a\r\nX-Client-ID: tester\r\n${headers}\r\n`;
  const [response] = await rawRequest(service.port, bytes);
  if (!line.startsWith('/health')) await until(() => written.endsWith('\n'));
  expect(response?.headers['x-request-id']).toBeDefined();
  return JSON.stringify(response) + written;
}

/** Requests with a token, as request line and headers. */
const SPELLINGS: readonly (readonly [string, (token: string) => readonly [string, string]])[] = [
  ['as it is', (token) => [`/brands?access_token=${token}`, '']],
  ['escaped', (token) => [`/brands?access_token=${escaped(token)}`, '']],
  [
    'with one escape',
    (token) => [`/brands?access_token=${escaped(token[0] ?? '')}${token.slice(1)}`, ''],
  ],
  ['by an escaped name', (token) => [`/brands?acc%65ss_token=${token}`, '']],
  ['without a ?', (token) => [`/brands&access_token=${escaped(token)}`, '']],
  ['both escaped', (token) => [`/brands?${escaped('access_token')}=${escaped(token)}`, '']],
  ['the second time', (token) => [`/brands?access_token=a&access_token=${escaped(token)}`, '']],
  ['behind a space', (token) => [`/brands?access_token=+${token}`, '']],
  ['in the absolute form', (token) => [`http://a/brands?access_token=${escaped(token)}`, '']],
  ['in an absolute form of no port', (token) => [`http://x:y/brands?access_token=${token}`, '']],
  ['in half an absolute form', (token) => [`http://[::1/brands?access_token=${token}`, '']],
  ['in a path of an empty part', (token) => [`//brands?access_token=${token}`, '']],
  ['on a path that is not there', (token) => [`/nope?access_token=${token}`, '']],
  ['beside a bad escape', (token) => [`/brands?access_token=${escaped(token)}&a=%zz`, '']],
  ['before a fragment', (token) => [`/brands?access_token=${token}#a`, '']],
  ['in a path that is not UTF-8', (token) => [`/%ff?access_token=${escaped(token)}`, '']],
  ['to health', (token) => [`/health/live?access_token=${escaped(token)}`, '']],
  ['in an error message', (token) => [`/brands/${token}?acc%65ss_token=${escaped(token)}`, '']],
  ['in a header', (token) => ['/brands', `Authorization: Bearer ${token}\r\n`]],
  ['in a header otherwise', (token) => ['/brands', `authorization: bEARER   ${token}  \r\n`]],
  ['of another scheme', (token) => ['/brands', `Authorization: Token\t${token}\r\n`]],
  [
    'in a second header',
    (token) => ['/brands', `Authorization: Bearer a\r\nAuthorization: Bearer ${token}\r\n`],
  ],
  ['with a body', (token) => [`/brands?access_token=${escaped(token)}`, 'Content-Length: 1\r\n']],
];

it.each(SPELLINGS)('A token that is sent %s is no request id', async (_, spelling) => {
  const { token } = service;
  const [line, headers] = spelling(token);
  for (const id of [token, `request-${token}`]) {
    expect(await exposed(line, `${headers}X-Request-Id: ${id}\r\n`)).not.toContain(token);
  }
});

it.each([
  ['under another name', (token: string) => [`/brands?accessToken=${token}`, '']],
  ['in the path', (token: string) => [`/brands/%3faccess_token=${token}`, '']],
  ['with a comma', (token: string) => ['/brands', `Authorization: Bearer ${escaped(token)},\r\n`]],
  ['as the client', (token: string) => [`/brands?clientID=${escaped(token)}`, '']],
])('A token that is sent %s, which is refused, is no request id', async (_, spelling) => {
  const { token } = service;
  const [line = '', headers] = spelling(token);
  for (const id of [token, `request.${token}`]) {
    const text = await exposed(line, `${headers}X-Request-Id: ${id}\r\n`);
    // The message names the path that was asked for.
    expect(text.replaceAll(line.slice(1), '')).not.toContain(token);
  }
});

it('The id of any other request is its request id', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  for (const id of ['mine-1', traceparent]) {
    const own = `Authorization: Bearer ${service.token}\r\nX-Request-Id: ${id}\r\n`;
    const text = await exposed('/brands?limit=1', own);
    expect(text.split(id)).toHaveLength(3);
  }
});
