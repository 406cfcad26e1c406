import { describe, expect, it } from '@jest/globals';
import { PageCache } from '#server/list/serving/page-server.js';
import type { Settings } from '#server/settings/settings.js';

const page = (bytes: number) => pageOf(Buffer.alloc(bytes));
const pageOf = (body: Buffer) => ({
  version: '1',
  count: '1',
  rows: '1',
  last: null,
  body,
  tag: 'W/"1"',
});

const cacheOf = (pageCache: number) => new PageCache({ pageCache } as Settings);

describe('The page cache', () => {
  it('gives back what it was given', () => {
    const cache = cacheOf(1_000_000);
    const kept = page(10);
    cache.set('a', kept);
    expect(cache.get('a')).toEqual(kept);
    expect(cache.get('b')).toBeUndefined();
  });

  it('keeps within its bound what was used last', () => {
    const cache = cacheOf(100_000);
    for (let at = 0; at < 20; at += 1) {
      cache.set(String(at), page(9500));
      cache.get('0');
    }
    const kept = Array.from({ length: 20 }, (_, at) => String(at)).filter((key) => cache.get(key));
    expect(kept).toEqual(['0', '12', '13', '14', '15', '16', '17', '18', '19']);
  });

  it('keeps no more memory than the page, which Node may have cut out of a larger piece', () => {
    const cache = cacheOf(100_000);
    cache.set('a', pageOf(Buffer.from('a small page')));
    expect(cache.get('a')?.body.buffer.byteLength).toBe('a small page'.length);
  });

  it('counts a page once that is put in its own place', () => {
    const cache = cacheOf(100_000);
    cache.set('a', page(9500));
    for (let round = 0; round < 100; round += 1) cache.set('b', page(9500));
    expect(cache.get('a')).toBeDefined();
  });

  it('keeps no page that would drive out the others, nor any without room', () => {
    const cache = cacheOf(100_000);
    cache.set('a', page(20_000));
    expect(cache.get('a')).toBeUndefined();
    const none = cacheOf(0);
    none.set('a', page(1));
    expect(none.get('a')).toBeUndefined();
  });
});
