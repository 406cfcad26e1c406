import { describe, expect, it } from '@jest/globals';
import { parseQuery } from '#server/http/request.js';
import { link, type LinkedPage } from '#server/list/serving/link.js';

const links = (query: string, position: Partial<LinkedPage>) =>
  link(
    { parameters: parseQuery(query), url: `/products?${query}`, headersDistinct: {} },
    { limit: 50, count: 0, rows: 50, last: null, ...position },
  );

/** The links by relation. */
function byRelation(query: string, position: Partial<LinkedPage>): Record<string, string> {
  const found = links(query, position)?.matchAll(/<([^>]*)>; rel="(\w+)"/g) ?? [];
  return Object.fromEntries([...found].map(([, target = '', relation = '']) => [relation, target]));
}

describe('Link', () => {
  it('leads to other pages behind any path', () => {
    const { next = '', first = '' } = byRelation('limit=2&offset=2', {
      offset: 2,
      limit: 2,
      count: 10,
    });
    const list = 'https://shop.example.com/api/v1/products?limit=2&offset=2&clientID=a';
    expect(new URL(next, list).href).toBe(
      'https://shop.example.com/api/v1/products?limit=2&offset=4',
    );
    expect(new URL(first, list).href).toBe('https://shop.example.com/api/v1/products?limit=2');
  });

  it('names other pages, with every parameter but the credentials', () => {
    const query = 'clientID=a&type=DIGITAL&access_token=secret&name=%C3%A4+%26%3E&limit=2&offset=4';
    expect(links(query, { offset: 4, limit: 2, count: 10 })).toBe(
      '<?type=DIGITAL&name=%C3%A4+%26%3E&limit=2&offset=6>; rel="next", ' +
        '<?type=DIGITAL&name=%C3%A4+%26%3E&limit=2&offset=2>; rel="prev", ' +
        '<?type=DIGITAL&name=%C3%A4+%26%3E&limit=2>; rel="first", ' +
        '<?type=DIGITAL&name=%C3%A4+%26%3E&limit=2&offset=8>; rel="last"',
    );
  });

  it.each([
    [
      'the first page',
      { offset: 0, count: 120, last: 'x' },
      { next: '?offset=50', after: '?after=x', last: '?offset=100' },
    ],
    ['the last page', { offset: 50, count: 60, rows: 10 }, { prev: '?', first: '?' }],
    [
      'a page behind the last',
      { offset: 500, count: 60, rows: 0 },
      { prev: '?offset=10', first: '?' },
    ],
    ['the only page', { offset: 0, count: 50, last: 'x' }, {}],
    ['a page of an empty list', { offset: 5, count: 0, rows: 0 }, { prev: '?', first: '?' }],
    ['a mere count', { offset: 0, limit: 0, count: 50, rows: 0 }, {}],
    [
      'a full page behind an object',
      { count: 120, last: 'x' },
      { next: '?after=x', first: '?', last: '?offset=100' },
    ],
    ['the last page behind an object', { count: 120, rows: 20 }, { first: '?' }],
  ] as const)('of %s leads to the other pages there are', (_, position, expected) => {
    expect(byRelation('', position)).toEqual(expected);
  });

  it('replaces the place that was sent', () => {
    expect(byRelation('after=a&limit=2', { limit: 2, count: 9, rows: 2, last: 'b,c' })).toEqual({
      next: '?limit=2&after=b%2Cc',
      first: '?limit=2',
      last: '?limit=2&offset=8',
    });
  });

  it('leaves out what would make the header too long', () => {
    const position = { offset: 50, count: 500, last: 'x' };
    const long = byRelation(`name=${'x'.repeat(1500)}`, position);
    expect(Object.keys(long)).toEqual(['next', 'prev']);
    expect(links(`name=${'x'.repeat(4000)}`, position)).toBeUndefined();
  });
});
