import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SEPARATORS } from '../../src/database/migrations/1763683200000-create-catalogue.js';
import { containsWords } from '../../src/list/contains-words.js';
import { Product } from '../../src/products/product.entity.js';
import { SEED } from '../random.js';
import { refusal, type Service, startService } from '../service.js';

const TEXTS = [
  'wool/cotton blue',
  "chef's BLUE wool",
  'naïve Straße 1e5 3-4',
  'a☃b c\\d "wool" 日本語 blue',
  'İstanbul ΟΔΟΣ 12abc e\u0301 x',
  'blue blue wool x y z',
];

let service: Service;

beforeAll(async () => {
  service = await startService();
  const products = TEXTS.map((name, at) => ({ productID: `p${at}`, type: 'DIGITAL', name }));
  await service.load('products', products);
});
afterAll(() => service.stop());

const search = (words: string) => service.get(`/products?q=${encodeURIComponent(words)}`);
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`).join(' ');

/** The plan of a search. It contains the tsquery, because the planner evaluates constants. */
async function planOf(words: string): Promise<string> {
  const [text, values] = service.dataSource
    .getRepository(Product)
    .createQueryBuilder('object')
    .where({ words: containsWords(words) })
    .getQueryAndParameters();
  const rows = await service.dataSource.query<{ 'QUERY PLAN': string }[]>(
    `EXPLAIN ${text}`,
    values,
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

describe('A search for words', () => {
  it('separates words as it did before at every character', async () => {
    const differing = await service.dataSource.query<unknown[]>(
      `SELECT code FROM generate_series(1, $1::integer) code
       WHERE code NOT BETWEEN 55296 AND 57343 AND search_text('ab' || chr(code) || 'c') IS DISTINCT FROM
         translate(normalize('ab' || chr(code) || 'c'), $2, $3)`,
      [0x2ffff, SEPARATORS, ' '.repeat(SEPARATORS.length)],
    );
    expect(differing).toEqual([]);
  });

  it('looks for a repeated word once, whatever its case and form', async () => {
    const words = ['blue', 'BLUE', 'na\u00efve', 'nai\u0308ve', 'Blue/blue-BLUE'].join(' ');
    expect(await planOf(`${words} ${'blue '.repeat(50)}`)).toContain(
      `@@ '''blue'' & ''naïve'''::tsquery`,
    );
  });

  it('finds what PostgreSQL finds for the same words', async () => {
    const products = service.dataSource.getRepository(Product);
    const word = fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...TEXTS.flatMap((text) => text.split(' '))) },
      { weight: 2, arbitrary: fc.constantFrom('BLUE', 'wool', 'Wool', 'x', "'", '\\', '&', "' '") },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 5 }) },
    );
    const queries = fc
      .array(word, { minLength: 1, maxLength: 5 })
      .map((words) => words.join(' '))
      .filter((words) => words.isWellFormed() && !words.includes('\0'));
    let found = 0;
    await fc.assert(
      fc.asyncProperty(queries, async (words) => {
        const rows = await service.dataSource.query<{ productID: string }[]>(
          `SELECT "productID" FROM products
           WHERE words @@ plainto_tsquery('simple', search_text($1)) ORDER BY "productID"`,
          [words],
        );
        const objects = await products.find({
          select: { productID: true },
          where: { words: containsWords(words) },
          order: { productID: 'ASC' },
        });
        expect(objects.map(({ productID }) => productID)).toEqual(
          rows.map(({ productID }) => productID),
        );
        found += objects.length;
      }),
      { numRuns: 500, seed: SEED },
    );
    expect(found).toBeGreaterThan(100);
  });

  it('takes 20 different words, and as many equal ones as it has characters for', async () => {
    await search(numbered(20)).expect(200);
    const { body } = await search('blue '.repeat(100)).expect(200);
    expect(body.response_data.count).toBe('4');
  });

  it.each([
    ['21 different words', numbered(21)],
    ['21 different words without a space', numbered(21).replaceAll(' ', '-')],
    ['501 characters', 'a'.repeat(501)],
    ['3,200 equal words', 'c '.repeat(3200)],
    ['no word', ' -/ '],
  ])('refuses %s', async (_, words) => {
    await search(words).expect(
      400,
      refusal(-22, 'The parameter q must be 1 to 20 different words in 500 characters'),
    );
  });
});
