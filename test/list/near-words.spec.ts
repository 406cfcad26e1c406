import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rebuildSearch } from '#server/schema/search-language.js';
import { refusal, type Service, sharedService } from '../service.js';
import { type Library, startLibrary } from './library.js';

const service = sharedService();

/** The names of products, with how many have each. */
const NAMES: readonly (readonly [name: string, count: number])[] = [
  ['blue trousers', 4],
  ['Red Trousers', 2],
  ['troopers in white', 3],
  ['Café de Łódź', 2],
  ['running bleach', 2],
  // Six words that are near `lamps`.
  ...['lamp', 'clamps', 'damps', 'camps', 'limps', 'ramps'].map(
    (name, at) => [name, 1 + at] as const,
  ),
];

beforeAll(async () => {
  const names = NAMES.flatMap(([name, count]) => Array.from({ length: count }, () => name));
  await service.load(
    'products',
    names.map((name, at) => ({
      ...{ productID: `p${at}`, name, type: at % 2 === 0 ? 'PHYSICAL' : 'DIGITAL' },
      refID: at === 0 ? 'bluw' : null,
    })),
  );
  await service.dataSource.query('ANALYZE products');
});

const sent = (parameters: Readonly<Record<string, string>>) =>
  new URLSearchParams(parameters).toString();

/** `text count` of the texts near a search, of which each has the count of its list. */
async function near(
  q: string,
  others: Readonly<Record<string, string>> = {},
  { from = service, path = 'products' }: { from?: Pick<Service, 'get'>; path?: string } = {},
): Promise<string[]> {
  const { limit, ...filters } = others;
  const asked = sent({ q, facets: 'q', ...others });
  const { body } = await from.get(`/facets/${path}?${asked}`).expect(200);
  const { objects, count } = body.response_data as {
    count: string;
    objects: Record<'field' | 'label' | 'value' | 'count', string | null>[];
  };
  if (limit === undefined) expect(count).toBe(String(objects.length));
  return Promise.all(
    objects.map(async ({ field, label, value, count: found }) => {
      expect([field, label]).toEqual(['q', null]);
      const list = `/${path}?${sent({ q: String(value), ...filters, limit: '0' })}`;
      expect((await from.get(list).expect(200)).body.response_data.count).toBe(found);
      return `${value} ${found}`;
    }),
  );
}

describe('Near words', () => {
  it.each([
    ['truosers', ['trousers 6', 'troopers 3']],
    ['trosers', ['trousers 6', 'troopers 3']],
    ['TROUUSERS', ['trousers 6']],
    ['trovsers', ['trousers 6', 'troopers 3']],
    ['rtousesr', ['trousers 6']],
    ['trusrs', ['trousers 6']],
    ['bleu', ['blue 4']],
    ['whit', ['white 3']],
    ['whtie', ['white 3']],
    ['cafè', []],
    ['cäfes', ['cafe 2']],
    ['łodzz', ['lodz 2']],
    // Nearer words come before more frequent ones.
    ['tropers', ['troopers 3', 'trousers 6']],
    // Too far, or too short.
    ['wihet', []],
    ['tuoresrs', []],
    ['ni', []],
    ['xylophone', []],
  ])('are one letter off, two in words of six, or a transposition: %s', async (text, texts) => {
    expect(await near(text)).toEqual(texts);
  });

  it('stand in place of the words that find nothing, and of no others', async () => {
    expect(await near('Blue, trosers!')).toEqual(['Blue, trousers! 4']);
    expect(await near('bleu -- trosers')).toEqual(['blue -- trousers 4']);
    expect(await near('trous* bleu')).toEqual(['trous* blue 4']);
    expect(await near('truos* blue')).toEqual([]);
    expect(await near('trosers xylophone')).toEqual([]);
    // It is a word of a reference.
    expect(await near('bluw trosers')).toEqual(['bluw trousers 1']);
  });

  it('are at most five, the nearest and most frequent', async () => {
    const five = ['ramps 6', 'limps 5', 'camps 4', 'damps 3', 'clamps 2'];
    expect(await near('lamps')).toEqual(five);
    expect(await near('lamps', { limit: '2' })).toEqual(five.slice(0, 2));
    const { body } = await service.get('/facets/products?q=lamps&facets=q&limit=0').expect(200);
    expect(body.response_data).toEqual({ count: '5', objects: [] });
  });

  it('are counted beside the other filters', async () => {
    expect(await near('trosers', { type: 'DIGITAL' })).toEqual(['trousers 3', 'troopers 1']);
    expect(await near('trosers', { type: 'DIGITAL', productID: 'p1,p8' })).toEqual(['trousers 1']);
    expect(await near('trosers', { type: 'SERVICE' })).toEqual([]);
  });

  it('are none where the search finds something, or without one', async () => {
    expect(await near('trousers')).toEqual([]);
    expect(await near('white blue')).toEqual([]);
    expect(await near('bluw')).toEqual([]);
    expect(await near('bluw', { type: 'DIGITAL' })).toEqual(['blue 2']);
    const { body } = await service.get('/facets/products?facets=q,type').expect(200);
    const objects = body.response_data.objects as { field: string }[];
    expect(objects.map(({ field }) => field)).toEqual(['type', 'type']);
  });

  it('stand behind the other fields, which find nothing, and only if they are named', async () => {
    const facets = async (names: string) =>
      (await service.get(`/facets/products?q=bleu${names}`).expect(200)).body.response_data;
    const blue = { field: 'q', value: 'blue', label: null, count: '4' };
    expect(await facets('&facets=q,type')).toEqual({ count: '1', objects: [blue] });
    expect(await facets('')).toEqual({ count: '0', objects: [] });
    await service
      .get('/facets/products?q=bleu&facets=q&facetStarts=b')
      .expect(400, /facetStarts must be given with facets as one of/);
  });

  it('change with the objects, and with the statistics', async () => {
    const load = (name: string) =>
      service.load('products', [{ productID: 'new', type: 'DIGITAL', name }]);
    await load('white');
    expect(await near('whtie')).toEqual(['white 4']);
    await load('whtie');
    expect(await near('whtie')).toEqual([]);
    await load('violet');
    expect(await near('voilet')).toEqual([]);
    await service.dataSource.query('ANALYZE products');
    expect(await near('voilet')).toEqual(['violet 1']);
    const tags = ['q=voilet&facets=q', 'q=voilet&facets=type', 'facets=q'].map(async (asked) => {
      const { headers } = await service.get(`/facets/products?${asked}`).expect(200);
      return headers.etag !== undefined;
    });
    expect(await Promise.all(tags)).toEqual([false, true, true]);
    await service.dataSource.query(`DELETE FROM products WHERE "productID" = 'new'`);
  });

  it('are nothing that a client may name who may not search', async () => {
    const nameless = await service.newClient('nameless', { hidden: ['products.name'] });
    const { body } = await nameless.get('/facets/products?facets=q').expect(400);
    expect(body).toEqual(
      refusal(
        -25,
        expect.stringMatching(/^The parameter facets must not name q; it may name [^q]*$/) as never,
      ),
    );
  });

  it('are not counted for a client who sees nothing else that is counted', async () => {
    const others = ['type', 'brandID', 'categoryID', 'currency', 'colours', 'stock'];
    const ranges = ['price', 'createdAt', 'updatedAt'];
    const searcher = await service.newClient('searcher', {
      hidden: [...others, ...ranges].map((name) => `products.${name}`),
    });
    await searcher.get('/facets/products?q=bleu').expect(403);
    expect(await near('bleu', {}, { from: searcher })).toEqual(['blue 4']);
  });

  it('are words as they are written, in a language that stems', async () => {
    await rebuildSearch(service.dataSource, 'english');
    expect(await near('runnning bleach')).toEqual(['running bleach 2']);
    expect(await near('trosers')).toEqual(['trousers 6', 'troopers 3']);
    // What finds something by its stem is not replaced.
    expect(await near('trouser xylophone')).toEqual([]);
    expect(await near('trouser bleu')).toEqual(['trouser blue 4']);
  });
});

it('The statistics of words have more of them, unless their number was set', async () => {
  const target = async (): Promise<unknown> => {
    await service.dataSource.query(
      `SELECT install_words(resource, columns) FROM searches WHERE resource = 'products'`,
    );
    const [row] = await service.dataSource.query<[{ target: number }]>(
      `SELECT attstattarget AS target FROM pg_attribute
       WHERE attrelid = 'products'::regclass AND attname = 'words'`,
    );
    return row.target;
  };
  const set = (number: number) =>
    service.dataSource.query(`ALTER TABLE products ALTER words SET STATISTICS ${number}`);
  expect(await target()).toBe(300);
  await set(50);
  expect(await target()).toBe(50);
  await set(-1);
  expect(await target()).toBe(300);
});

describe('Near words that a client does not see', () => {
  let library: Library;

  beforeAll(async () => {
    const titles = {
      a: ['garden lamp', 'garden', 'robusta'],
      other: ['gardes', 'gardes', 'secret lamp'],
    };
    library = await startLibrary(
      Object.entries(titles).flatMap(([ownerID, texts]) =>
        texts.map((title, at) => ({ bookID: `${ownerID}${at}`, kind: 'NOVEL', title, ownerID })),
      ),
    );
  });
  afterAll(() => library.stop());

  const seen = (client: string, text: string) =>
    near(text, {}, { from: library.as(client), path: 'test_books' });

  it('are not told, nor counted', async () => {
    expect(await seen('tester', 'gardem')).toEqual(['garden 2', 'gardes 2']);
    expect(await seen('a', 'gardem')).toEqual(['garden 2']);
    expect(await seen('a', 'secrte')).toEqual([]);
    expect(await seen('other', 'secrte lmp')).toEqual(['secret lamp 1']);
    expect(await seen('a', 'lmp')).toEqual(['lamp 1']);
    // The tally counts `robust`, which is in no book.
    expect(await seen('a', 'robust')).toEqual(['robusta 1']);
    expect(await seen('other', 'robust')).toEqual([]);
  });

  it('are as words that there are not', async () => {
    expect(await seen('a', 'gardes')).toEqual(['garden 2']);
    expect(await seen('other', 'garden')).toEqual(['gardes 2']);
    expect(await seen('tester', 'gardes')).toEqual([]);
  });
});
