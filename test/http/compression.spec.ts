import { beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { encodingOf } from '#server/http/negotiation.js';
import { sharedService } from '../service.js';

const service = sharedService();

beforeAll(async () => {
  await service.load(
    'brands',
    Array.from({ length: 300 }, (_, at) => ({ brandID: `b${at}`, name: `Brand ${at}` })),
  );
});

it.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP;Q=0.5', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['gzip;q=0, br;q=0', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['gzip;q=0.5, identity;q=0.5', 'gzip'],
  ['gzip;q=0, br;q=0.001, *;q=0.1', 'br'],
  ['zstd;q=0.5, gzip;q=0.5, br;q=0.5, *', 'br'],
  ['gzip;q=0.7, br;q=0, *', 'gzip'],
  ['deflate', undefined],
])('Accept-Encoding: %s prefers %s', (sent, encoding) => {
  expect(encodingOf(sent)).toBe(encoding);
  expect(encodingOf(sent)).toBe(encoding);
});

interface Received {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends a request. Returns the response without decompressing it. */
async function fetched(path: string, encoding: string, more = {}): Promise<Received> {
  const headers = { ...service.headers, 'Accept-Encoding': encoding, ...more };
  const sent = request({ port: service.port, path, headers }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

describe('A body', () => {
  it.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ])('in %s is the same, also from memory and without it', async (encoding, decompress) => {
    for (const path of ['/brands?limit=100', '/brands?limit=100&sort=name']) {
      const plain = await fetched(path, 'identity');
      expect(plain.headers['content-encoding']).toBeUndefined();
      for (let round = 0; round < 2; round += 1) {
        const packed = await fetched(path, encoding);
        expect(packed.headers['content-encoding']).toBe(encoding);
        expect(packed.headers['content-length']).toBe(String(packed.body.length));
        expect(packed.body.length).toBeLessThan(plain.body.length / 4);
        expect(decompress(packed.body)).toEqual(plain.body);
        expect(packed.headers.vary).toContain('Accept-Encoding');
        // The tag is weak, because it is the same for every content coding.
        expect(packed.headers.etag).toBe(plain.headers.etag);
        const again = await fetched(path, encoding, { 'If-None-Match': packed.headers.etag ?? '' });
        expect(again.status).toBe(304);
        expect(again.headers['content-encoding']).toBeUndefined();
      }
    }
  });

  it('is not compressed if it is short or an error', async () => {
    for (const path of ['/brands?limit=1', '/brands/b1', '/brands?nonsense=1', '/nothing']) {
      expect((await fetched(path, 'gzip')).headers['content-encoding']).toBeUndefined();
    }
  });

  it('that is streamed is compressed on the way', async () => {
    const accept = { Accept: 'application/x-ndjson' };
    const plain = await fetched('/brands', 'identity', accept);
    const packed = await fetched('/brands', 'gzip', accept);
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(packed.body)).toEqual(plain.body);
  });
});
