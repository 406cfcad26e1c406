import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ListReader } from '#server/list/reading/list-reader.js';
import { VisibleListing } from '#server/list/visibility/visible-listing.js';
import { Listing } from '#server/list/listing/listing.js';
import { containsWords } from '#server/list/condition/words.js';
import { ParameterValues } from '#server/database/statement.js';
import { conditionsFrom } from '#server/list/condition/from-typeorm.js';
import { whereOf } from '#server/list/condition/print.js';
import { searchText } from '#server/list/query/search-text.js';
import { ListProductsDto } from '../../src/products/list-products.dto.js';
import { Product, ProductType } from '../../src/products/product.entity.js';
import { ProductsService } from '../../src/products/products.service.js';
import { SEED } from '#server/testing/random.js';
import { refusal, sharedService } from '../service.js';

/** Names and descriptions. The identifiers of their products are p0, p1, … */
const TEXTS: readonly (readonly [name: string | null, description: string | null])[] = [
  ['wool/cotton blue', null],
  ["chef's BLUE wool", 'Café crème, ½ litre'],
  ['naïve Straße 1e5 3-4', 'Øre, Łódź, Þór and ŒUVRE'],
  ['a☃b c\\d "wool" 日本語 blue', 'パン ぱん'],
  ['İstanbul ΟΔΟΣ 12abc e\u0301 x', 'Ёлка'],
  ['blue blue wool x y z', 'ﬁne ＣＡＦＥ 😀'],
  [null, 'Beanbag in blue wool'],
  ['Bean', 'green'],
  ['⭐\ufe0fRegal ☀\ufe0f 葛\u{e0100}城', 'שָׁלוֹם كِتَاب Strand\u00adkorb'],
  ['می\u200cروم', 'خانه'],
];

const service = sharedService();

beforeAll(async () => {
  const products = TEXTS.map(([name, description], at) => ({
    ...{ productID: `p${at}`, refID: `KT-Ins${at}-DRE`, type: 'DIGITAL', name, description },
    price: String(9 - at),
    currency: 'EUR',
  }));
  await service.load('products', products);
});

const search = (words: string, others = '') =>
  service.get(`/products?q=${encodeURIComponent(words)}${others}`);
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`).join(' ');

/** The identifiers that a search finds, in order. */
async function found(words: string, others = ''): Promise<string[]> {
  const { body } = await search(words, others).expect(200);
  const { count, objects } = body.response_data as {
    count: string;
    objects: { productID: string }[];
  };
  if (!/limit|offset/.test(others)) expect(count).toBe(String(objects.length));
  return objects.map(({ productID }) => productID);
}

/** The plan of a search. It contains the tsquery, because the planner evaluates constants. */
async function planOf(words: string): Promise<string> {
  const [where, values] = searched(words, ['productID', 'refID']);
  const rows = await service.dataSource.query<{ 'QUERY PLAN': string }[]>(
    `EXPLAIN SELECT * FROM products object ${where}`,
    values,
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** The WHERE clause of a search, and its parameter values. */
function searched(words: string, identifiers: readonly string[] = []): [string, unknown[]] {
  const { metadata } = service.dataSource.getRepository(Product);
  const values = new ParameterValues();
  const conditions = conditionsFrom(metadata, { words: containsWords(words, identifiers) });
  return [whereOf(conditions, { metadata, values }), values.values];
}

/** Not as a literal, which the compiler of the tests would expand by a Unicode version of its own. */
const WORDS = new RegExp('[\\p{L}\\p{N}\\p{M}]+', 'gu');

/** What words have without a meaning for the search: marks, and characters that are not seen. */
const IGNORED = [
  [0xad, 0xad],
  [0x300, 0x36f],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x20d0, 0x20ff],
  [0xfe20, 0xfe2f],
  // Hebrew points and Arabic marks.
  [0x591, 0x5bd],
  [0x5bf, 0x5bf],
  [0x5c1, 0x5c2],
  [0x5c4, 0x5c5],
  [0x5c7, 0x5c7],
  [0x64b, 0x65f],
  [0x670, 0x670],
  // Joiners and variation selectors.
  [0x200c, 0x200d],
  [0xfe00, 0xfe0f],
  [0xe0100, 0xe01ef],
] as const;

function isIgnored(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return IGNORED.some(([first, last]) => first <= code && code <= last);
}

/** The words of a text by a second implementation. */
function foldedWords(text: string): string[] {
  const letters: Record<string, string> = {
    ...{ ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ı: 'i', ŧ: 't', ς: 'σ' },
    ...{ ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th' },
  };
  const folded = Array.from(text.normalize('NFKD'))
    .filter((character) => !isIgnored(character))
    // One by one, since toLowerCase makes a final sigma of its own.
    .map((character) => character.toLowerCase())
    .map((character) => letters[character] ?? character)
    .join('');
  return (folded.normalize('NFKC').match(WORDS) ?? []).flatMap((word) =>
    (word.match(PARTS) ?? []).flatMap((part) => (UNSPACED.test(part) ? sequences(part) : [part])),
  );
}

const SCRIPTS = 'Han Hiragana Katakana Thai Lao Khmer Myanmar'.split(' ');
/** Beside the letters of a script, marks that several scripts share. */
const UNSPACED = new RegExp(
  `(?![\\p{Nd}\u17f0-\u17f9])[${SCRIPTS.map((name) => `\\p{sc=${name}}`).join('')}\u302a-\u302d\u3031-\u3035\u3006\u303c\u3099-\u309c\u30fc]`,
  'v',
);
const PARTS = new RegExp(`(?:${UNSPACED.source})+|(?:(?!${UNSPACED.source}).)+`, 'gv');

/** Each two and each three adjacent characters, or one that is alone. */
function sequences(text: string): string[] {
  const characters = Array.from(text);
  if (characters.length === 1) return characters;
  return characters.flatMap((_, at) =>
    [2, 3].flatMap((length) =>
      at + length <= characters.length ? [characters.slice(at, at + length).join('')] : [],
    ),
  );
}

describe('A search for words', () => {
  it.each([
    ['cafe', ['p1', 'p5']],
    ['CAFÉ', ['p1', 'p5']],
    ['cafe\u0301 CREME', ['p1']],
    ['strasse', ['p2']],
    ['STRAẞE', ['p2']],
    ['naive', ['p2']],
    ['ore lodz thor oeuvre', ['p2']],
    ['œuvre', ['p2']],
    ['ISTANBUL', ['p4']],
    ['istanbul', ['p4']],
    ['οδος', ['p4']],
    ['ὀδός', ['p4']],
    ['елка', ['p4']],
    ['fine', ['p5']],
    ['ぱん', ['p3']],
    ['バン', []],
    ['日本語', ['p3']],
    ['1', ['p1']],
    ['blue wool x', ['p5']],
    ['wool x blue', ['p5']],
    ['wool,cotton', ['p0']],
    ['chefs', []],
    ['blue 😀', ['p0', 'p1', 'p3', 'p5', 'p6']],
    ['regal', ['p8']],
    ['regal ☀\ufe0f', ['p8']],
    ['葛城', ['p8']],
    ['שלום كتاب', ['p8']],
    ['strandkorb', ['p8']],
  ])('ignores case, accents, order and punctuation: %s', async (words, identifiers) => {
    expect(await found(words)).toEqual(identifiers);
  });

  it.each([
    ['bean', ['p7']],
    ['bean*', ['p6', 'p7']],
    ['BÉAN*', ['p6', 'p7']],
    ['be* wo*', ['p6']],
    ['be* be*', ['p6', 'p7']],
    ['green-be*', ['p7']],
    ['*bean', ['p7']],
    ['be*an', []],
    ['bean**', ['p6', 'p7']],
    ['bean *', ['p7']],
    ['str*', ['p2', 'p8']],
    ['日本*', ['p3']],
    ['ag*', []],
    ['ﬁn*', ['p5']],
    ['ﬁ*', ['p5']],
    // Characters that are not seen, in every place.
    ['می*', ['p9']],
    ['می\u200c*', ['p9']],
    ['می\u200cر*', ['p9']],
    ['\u200cمی*', ['p9']],
    ['\u200fمی*\u200f', ['p9']],
    ['می*\u200c خانه', ['p9']],
    ['می\u200f*', ['p9']],
    ['be\u00adan*', ['p6', 'p7']],
    ['bean\u00ad*', ['p6', 'p7']],
    ['bean\u200d*', ['p6', 'p7']],
    ['bean\u200b\u200e\ufeff\u2060*', ['p6', 'p7']],
    ['be*\u200can', []],
    ['bean \u200c*', ['p7']],
    ['bean\u200c \u200f*', ['p7']],
  ])('finds words by their beginning: %s', async (words, identifiers) => {
    expect(await found(words)).toEqual(identifiers);
  });

  it.each([
    ['p3', ['p3']],
    ['P3', []],
    ['p3 ', []],
    ['KT-Ins3-DRE', ['p3']],
    ['kt-ins3', ['p3']],
    ['INS3', ['p3']],
    ['KT-INS3*', ['p3']],
    ['dre ins7 bean', ['p7']],
    ['kt-ins bean', []],
    ['kt-ins* bean', ['p7']],
  ])('finds an exact identifier, and a reference by its parts: %s', async (words, identifiers) => {
    expect(await found(words)).toEqual(identifiers);
  });

  it.each([
    ['本', []],
    ['日本', ['p3']],
    ['本語', ['p3']],
    ['日語', []],
    ['ン', []],
    ['城', []],
    ['ab日本', []],
    ['BLUE本語wool', ['p3']],
    ['本語*', ['p3']],
    ['月の売上', ['sales']],
    ['売上 REPORT', ['sales']],
    ['売上高の月', []],
    ['ความ', ['sales']],
    ['รัก', ['sales']],
    ['กก', []],
    ['ສະບາຍ', ['sales']],
    ['ខ្មែរ', ['sales']],
    ['မြန်', ['sales']],
    ['한국', ['sales']],
    ['국', []],
  ])('finds adjacent characters of scripts without spaces: %s', async (words, identifiers) => {
    await service.load('products', [
      {
        ...{ productID: 'sales', type: 'DIGITAL', name: '今月の売上報告report 2026' },
        description: 'ความรัก ສະບາຍດີ ភាសាខ្មែរ မြန်မာ 한국 서울',
      },
    ]);
    expect(await found(words)).toEqual(identifiers);
    await service.dataSource.query(`DELETE FROM products WHERE "productID" = 'sales'`);
  });

  it('is counted beside other filters, whatever finds an object', async () => {
    expect(await found('p3', '&type=DIGITAL')).toEqual(['p3']);
    expect(await found('p3', '&type=PHYSICAL')).toEqual([]);
    expect(await found('blue', '&priceMin=6')).toEqual(['p0', 'p1', 'p3']);
  });

  it('looks for a repeated word once, whatever its case and form', async () => {
    const words = ['blue', 'BLUE', 'na\u00efve', 'nai\u0308ve', 'Blue/blue-BLUE'].join(' ');
    expect(await planOf(`${words} ${'blue '.repeat(50)}`)).toContain(
      `@@ '''blue'' & ''naive'''::tsquery`,
    );
  });

  it('takes an identifier from its index', async () => {
    const runner = service.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SET LOCAL enable_seqscan = off');
    const rows = (await runner.query(
      `EXPLAIN SELECT count(*) FROM products WHERE words @@ search_query('p3', '{}', false)
       OR "productID" = 'p3'`,
    )) as { 'QUERY PLAN': string }[];
    await runner.rollbackTransaction();
    await runner.release();
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan.match(/Bitmap Index Scan/g)).toHaveLength(2);
  });

  it('reads only products of a type in the order of the identifier', async () => {
    const products = service.dataSource.getRepository(Product);
    const query = Object.assign(new ListProductsDto(), { type: [ProductType.DIGITAL], q: 'bean' });
    const { filters } = service.application.get(ProductsService).list(query);
    const values = new ParameterValues();
    const where = whereOf(filters, { metadata: products.metadata, values });
    const runner = service.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off');
    const rows = (await runner.query(
      `EXPLAIN SELECT "productID" FROM products object ${where} AND "productID" > (SELECT 'p1')
       ORDER BY "productID" LIMIT 50`,
      values.values,
    )) as { 'QUERY PLAN': string }[];
    await runner.rollbackTransaction();
    await runner.release();
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(
      /Index Cond: \(\(type = 'DIGITAL'::product_type\) AND \(\("productID"\)::text > /,
    );
    expect(plan).not.toContain('Sort');
  });

  it('folds a text as a second implementation does', async () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc
        .array(fc.constantFrom(...TEXTS.flat().flatMap((text) => text?.split(' ') ?? [])))
        .map((words) => words.join(' ')),
    );
    await fc.assert(
      fc.asyncProperty(
        texts.filter((text) => text.isWellFormed() && !text.includes('\0')),
        async (text) => {
          const [row] = await service.dataSource.query<{ words: string[]; forms: string }[]>(
            `SELECT search_words($1) AS words,
               coalesce((SELECT string_agg(lower(c) || normalize(c, NFKD), '' ORDER BY at)
                 FROM regexp_split_to_table($1, '') WITH ORDINALITY AS characters (c, at)), '') AS forms`,
            [text],
          );
          // PostgreSQL and Node may know different versions of Unicode.
          const forms = Array.from(text, (each) => each.toLowerCase() + each.normalize('NFKD'));
          fc.pre(row?.forms === forms.join(''));
          expect(row.words.toSorted()).toEqual(foldedWords(text).toSorted());
        },
      ),
      { numRuns: 1000, seed: SEED },
    );
  });

  it('folds and separates every character of Unicode as a second implementation does', async () => {
    const rows: { character: string; forms: string; words: string[] }[] = [];
    // In parts, each of which is ready long before a timeout.
    for (let first = 1; first <= 0x1ffff; first += 0x2000) {
      const part = await service.dataSource.query<typeof rows>(
        `SELECT chr(code) AS character, lower(chr(code)) || normalize(chr(code), NFKD) AS forms, search_words('ab' || chr(code) || 'c') AS words
         FROM generate_series($1::integer, $2::integer) code WHERE code NOT BETWEEN 55296 AND 57343`,
        [first, Math.min(first + 0x1fff, 0x1ffff)],
      );
      rows.push(...part);
    }
    // PostgreSQL and Node may know different versions of Unicode.
    const known = rows.filter(
      ({ character, forms }) => forms === character.toLowerCase() + character.normalize('NFKD'),
    );
    expect(known.length).toBeGreaterThan(rows.length - 1000);
    const differing = known
      .map(({ character, words }) => ({ text: `ab${character}c`, words }))
      .filter(({ text, words }) => words.toSorted().join() !== foldedWords(text).toSorted().join());
    expect(differing.map(({ text }) => text)).toEqual([]);
  });

  it('reads the beginning of a word with any format character as words are folded', async () => {
    const formats = Array.from({ length: 0x10ffff }, (_, code) =>
      String.fromCodePoint(code),
    ).filter((character) => /\p{Cf}/u.test(character));
    expect(formats.length).toBeGreaterThan(100);
    const rows = await service.dataSource.query<{ character: string; words: string[] }[]>(
      `SELECT character, search_words('ab' || character || 'cd') AS words
       FROM unnest($1::text[]) character`,
      [formats],
    );
    for (const { character, words } of rows) {
      const within = searchText(`ab${character}cd*`);
      const read = [...(within.words.match(WORDS) ?? []), ...within.beginnings];
      expect([character, read]).toEqual([character, words]);
      const before = searchText(`ab${character}*`);
      expect([character, before.beginnings]).toEqual([character, ['ab']]);
    }
  });

  it('finds a product by its own words, whatever they are', async () => {
    const word = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.constantFrom(...TEXTS.flatMap(([name]) => name?.split(' ') ?? [])),
      },
      { weight: 2, arbitrary: fc.constantFrom('BLUE', 'wool', 'Wool', 'x', "'", '\\', '&', "' '") },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 5 }) },
    );
    const queries = fc
      .array(word, { minLength: 1, maxLength: 5 })
      .map((words) => words.join(' '))
      .filter((words) => words.isWellFormed() && !words.includes('\0') && !words.includes('*'));
    let matches = 0;
    await fc.assert(
      fc.asyncProperty(queries, async (words) => {
        const [where, values] = searched(words);
        const objects = await service.dataSource.query<{ productID: string }[]>(
          `SELECT "productID" FROM products object ${where} ORDER BY "productID"`,
          values,
        );
        const wanted = foldedWords(words);
        const matching = TEXTS.flatMap((texts, at) => {
          const own = foldedWords(texts.filter((text) => text !== null).join(' '));
          return wanted.length > 0 && wanted.every((each) => own.includes(each)) ? [`p${at}`] : [];
        });
        expect(objects.map(({ productID }) => productID)).toEqual(matching);
        matches += objects.length;
      }),
      { numRuns: 500, seed: SEED },
    );
    expect(matches).toBeGreaterThan(100);
  });

  it('leaves out words that are too long for the index', async () => {
    const long = '\u{10000}'.repeat(499);
    const texts = { name: 'long', description: `${'\u{10000}'.repeat(600)} end` };
    await service.load('products', [{ productID: 'long', type: 'DIGITAL', ...texts }]);
    expect(await found('end')).toEqual(['long']);
    expect(await found(`${long}*`)).toEqual([]);
    await service.dataSource.query(`DELETE FROM products WHERE "productID" = 'long'`);
  });

  it('is one of several in a list', async () => {
    const products = service.dataSource.getRepository(Product);
    const conditions = ['bean', 'green'].flatMap((text) =>
      conditionsFrom(products.metadata, { words: containsWords(text) }),
    );
    const listing = VisibleListing.of(new Listing(products, {}, conditions), undefined);
    const page = await service.application.get(ListReader).prepare(listing).read();
    expect(page.count).toBe('1');
  });

  it('takes 20 different words, and as many equal ones as it has characters for', async () => {
    await search(numbered(20)).expect(200);
    const { body } = await search('blue '.repeat(100)).expect(200);
    expect(body.response_data.count).toBe('5');
  });

  it('counts each five characters without spaces as a word', async () => {
    const characters = Array.from({ length: 101 }, (_, at) => String.fromCodePoint(0x4e00 + at));
    await search(characters.slice(0, 100).join('')).expect(200);
    await search(characters.join('')).expect(400);
    await search(`${characters.join('')}*`).expect(400);
    await search('00日10日20日30日40日50日60日70日80日90日').expect(200);
    await search('a日b月c火d水e木f金g土h今i本j語k売').expect(400);
  });

  it('keeps the first 20,000 words of a text without spaces, which an index holds', async () => {
    const characters = Array.from({ length: 10_002 }, (_, at) => String.fromCodePoint(0x4e00 + at));
    const [row] = await service.dataSource.query<{ count: number }[]>(
      'SELECT cardinality(search_words($1)) AS count',
      [characters.join('')],
    );
    expect(row?.count).toBe(20_000);
  });

  it.each([
    ['21 different words', numbered(21)],
    ['21 different words without a space', numbered(21).replaceAll(' ', '-')],
    ['20 different words and a beginning', `${numbered(20)} be*`],
    ['501 characters', 'a'.repeat(501)],
    ['3,200 equal words', 'c '.repeat(3200)],
    ['no word', ' -/ '],
    ['a symbol', '😀'],
    ['a star alone', '*'],
    ['a joiner before a star', '\u200c*'],
    ['format characters before a star', '\u200f\u00ad*'],
  ])('refuses %s', async (_, words) => {
    await search(words).expect(
      400,
      refusal(-22, 'The parameter q must be 1 to 20 different words in 500 characters'),
    );
  });

  it.each([
    'b*',
    'blue b*',
    'e\u0301*',
    'blue-b*',
    'b\u200c*',
    '\u200cb\u200f*',
    'b\ufe0f*',
    'b\u20dd*',
    'b\u0335\u{e0100}*',
    'b\u200f\ufe0f*',
    'b\ufe0f\u2060*',
    '\u05d1\u05b0*',
  ])('refuses a beginning of one character: %s', async (words) => {
    await search(words).expect(
      400,
      refusal(-22, 'The parameter q must be words with 2 or more characters before each *'),
    );
  });
});

it('Characters that the database leaves out of words do not count as characters of a beginning', async () => {
  const joining = Array.from({ length: 0x10ffff }, (_, code) => String.fromCodePoint(code)).filter(
    (character) => /[\p{M}\p{Cf}]/u.test(character),
  );
  const rows = await service.dataSource.query<{ character: string }[]>(
    `SELECT character FROM unnest($1::text[]) character WHERE search_text('b' || character) = 'b'`,
    [joining],
  );
  const joined = rows.map(({ character }) => character);
  expect(joined).toEqual(expect.arrayContaining(['\u0301', '\ufe0f', '\u00ad', '\u200f']));
  expect(joined.filter((each) => searchText(`b${each}*`).beginnings.join() !== 'b')).toEqual([]);
});

describe('The order by relevance', () => {
  it('is refused without a search, descending, and behind other keys', async () => {
    await service
      .get('/products?sort=relevance')
      .expect(400, refusal(-22, 'The parameter sort must be given with q if it names relevance'));
    await search('blue', '&sort=-relevance').expect(
      400,
      refusal(
        -25,
        'The parameter sort must not name -relevance; it may name relevance, productID, name, price, createdAt, updatedAt',
      ),
    );
    await search('blue', '&sort=price,relevance').expect(
      400,
      refusal(-22, 'The parameter sort must be names of fields, relevance before all others'),
    );
    await service
      .get('/brands?sort=relevance')
      .expect(
        400,
        refusal(-25, 'The parameter sort must not name relevance; it may name brandID, name'),
      );
  });
});
