import { describe, expect, it } from '@jest/globals';
import { link } from '../../src/list/serving/link.js';
import { parseQuery } from '../../src/http/parameters/query-string.js';

const links = (query: string, offset: number, limit: number, count: number) =>
  link('/products', parseQuery(query), { offset, limit, count });

describe('Link', () => {
  it('names the pages before and behind, with every parameter but the credentials', () => {
    const query = 'clientID=a&type=DIGITAL&access_token=secret&name=%C3%A4+%26%3E&limit=2&offset=4';
    expect(links(query, 4, 2, 10)).toBe(
      '</products?type=DIGITAL&name=%C3%A4+%26%3E&limit=2&offset=6>; rel="next", ' +
        '</products?type=DIGITAL&name=%C3%A4+%26%3E&limit=2&offset=2>; rel="prev"',
    );
  });

  it.each([
    ['of the first page has only the next', '', 0, 50, 60, '</products?offset=50>; rel="next"'],
    ['of the last page has only the one before', '', 50, 50, 60, '</products>; rel="prev"'],
    [
      'leads back to the last page from behind it',
      '',
      500,
      50,
      60,
      '</products?offset=10>; rel="prev"',
    ],
    ['of the only page is none', '', 0, 50, 50, undefined],
    ['of a mere count is none', 'limit=0', 0, 0, 50, undefined],
    ['is left out where it would be too long', `name=${'x'.repeat(4000)}`, 0, 1, 50, undefined],
  ] as const)('%s', (_, query, offset, limit, count, expected) => {
    expect(links(query, offset, limit, count)).toBe(expected);
  });
});
