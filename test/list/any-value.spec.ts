import { beforeAll, describe, expect, it } from '@jest/globals';
import { separableValue } from '#server/http/parameters/declared-parameters.js';
import { refusal } from '#server/testing/service.js';
import { sharedService } from '../service.js';

const service = sharedService();

const PARTS = [
  'a',
  'b',
  ',',
  ', ',
  '"',
  '""',
  "'",
  '\\',
  ' ',
  '\n',
  '\t',
  '%',
  '&',
  '+',
  '*',
  '{',
  '}',
  '|',
  'é',
  '紙',
  '😀',
];
const VALUES = [
  ...new Set(
    Array.from({ length: 450 }, (_, at) =>
      Array.from(at.toString(PARTS.length), (digit) => PARTS[parseInt(digit, PARTS.length)]).join(
        '',
      ),
    ),
  ),
];

beforeAll(() =>
  service.load('products', [
    ...VALUES.map((colour, at) => ({ productID: `p${at}`, type: 'PHYSICAL', colours: [colour] })),
    { productID: 'others', type: 'DIGITAL', colours: VALUES.slice(0, 300) },
  ]),
);

/** The number of products with one of some colours. */
async function countOf(text: string): Promise<string> {
  const { body } = await service.get(`/products?limit=0&colours=${encodeURIComponent(text)}`);
  return body.response_data?.count ?? body.result.msg;
}

describe('Any value that a facet shows', () => {
  it('is one of several, whatever its characters', async () => {
    const { body } = await service.get('/facets/products?facets=colours&limit=1000').expect(200);
    const shown = body.response_data.objects as { value: string; count: string }[];
    expect(shown.length).toBe(VALUES.length);
    for (const { value, count } of shown) {
      expect([value, await countOf(separableValue(value))]).toEqual([value, count]);
    }
  });

  it('stands beside others', async () => {
    const values = VALUES.filter((value) => /[,"]/.test(value)).slice(0, 50);
    expect(await countOf(values.map(separableValue).join())).toBe(String(values.length + 1));
    expect(await countOf('"a","b"')).toBe(await countOf('a,b'));
  });

  it.each(['"a', '"a"b', 'a,"b', '"a" ,b', '"'])('is refused as %s', async (text) => {
    await service
      .get(`/products?colours=${encodeURIComponent(text)}`)
      .expect(
        400,
        refusal(
          -22,
          'The parameter colours must be values separated by commas, with double quotes around one that has a comma or begins with a double quote',
        ),
      );
  });

  it.each(['""', 'a,""', 'a,', ','])('is not empty, as in %s', async (text) => {
    await service.get(`/products?colours=${encodeURIComponent(text)}`).expect(400);
  });
});
