import { beforeAll, describe, expect, it } from '@jest/globals';
import { Column, PrimaryColumn } from 'typeorm';
import { identifierColumn, NaturalOrder } from '@catalogue/server';
import {
  comparePage,
  equals,
  type PlainRequest,
  type PlainResource,
} from '#server/testing/oracle.js';
import { Random } from '#server/testing/random.js';
import { sharedService } from '../service.js';

const service = sharedService({ PAGE_CACHE_MB: '0' });

async function keysOf(texts: readonly (string | null)[]): Promise<(string | null)[]> {
  const rows = await service.dataSource.query<{ key: string | null }[]>(
    'SELECT natural_order(each) AS key FROM unnest($1::text[]) WITH ORDINALITY texts(each, at) ORDER BY at',
    [texts],
  );
  return rows.map(({ key }) => key);
}

describe('The natural order of texts', () => {
  it.each([
    ['numbers', ['a 0 b', 'a 1', 'a 9 mm', 'a 10,5 mm', 'a 10 mm', 'a 99', 'a 100', 'a1', 'b']],
    ['numbers at the beginning', ['', '7 dwarfs', '9 mm', '10 mm', '1000 mm', 'mm']],
    [
      'numbers of any length',
      [
        '1',
        '9'.repeat(9),
        '9'.repeat(29),
        `1${'0'.repeat(29)}`,
        `2${'0'.repeat(29)}`,
        '9'.repeat(38),
        '9'.repeat(39),
        '9'.repeat(40),
        '8'.repeat(77),
        '9'.repeat(77),
        '1'.repeat(78),
        '1'.repeat(116),
        '1'.repeat(499),
      ],
    ],
    ['numbers within words', ['m1', 'm1k', 'm2', 'm10', 'm10k', 'ma']],
    [
      'letters with accents',
      ['Äpfel', 'apple', 'Éclair', 'eclairs', 'Straße 2', 'strasse 10', 'zebra', 'Zoë'],
    ],
    [
      'other scripts',
      [
        '9',
        'z',
        'Άλφα',
        'βήτα',
        'Ёлка 2',
        'елка 10',
        'дом'.toUpperCase().replace('Д', 'Я'),
        '茶 2',
        '茶 10',
      ],
    ],
    ['digits of full width', ['a ９', 'a １０', 'a 11']],
  ])('has %s as people expect them', async (_, texts) => {
    const keys = await keysOf(texts);
    const inBytes = (key: string | null) => Buffer.from(key ?? '');
    const sorted = keys.toSorted((one, other) => Buffer.compare(inBytes(one), inBytes(other)));
    expect(sorted).toEqual(keys);
    expect(new Set(keys).size).toBe(texts.length);
  });

  it.each([
    ['Äpfel (rot)', 'apfel, ROT'],
    ['007', '7'],
    ['000', '0'],
    ['Straße', 'STRASSE'],
    ['１０ mm', '10 mm'],
    ['!?', ''],
  ])('does not tell %j from %j', async (...texts) => {
    const [one, other] = await keysOf(texts);
    expect(one).toBe(other);
  });

  it('has a key of 500 characters at most, also of a text that grows, and none without a text', async () => {
    const keys = await keysOf(['½'.repeat(500), '12 '.repeat(5000), `${'a'.repeat(499)}10`, null]);
    expect(keys.map((key) => key?.length)).toEqual([500, 500, 500, undefined]);
  });
});

/** Parts of names that fold, compare as numbers, or do neither. */
const PARTS = [
  ...['Äpfel', 'apple', 'APPLE', 'Zebra', 'ß', 'ss', 'Ωμέγα', 'Дом', '茶', '７', '"', '—', "'"],
  ...['0', '7', '007', '9 mm', '10 mm', '10mm', '1.5', '12345678901234567890', 'a1b22c333'],
];

describe('A list in the natural order', () => {
  const random = new Random('names');
  const names = Array.from({ length: 200 }, () =>
    Array.from({ length: random.below(4) }, () => random.pick(PARTS)).join(
      random.pick([' ', '', '-']),
    ),
  );
  const plain: PlainResource = {
    path: '/products',
    table: 'products',
    identifier: 'productID',
    sorts: ['name', 'price'],
    natural: { name: names },
    filters: { type: equals('type', []) },
  };

  beforeAll(async () => {
    await service.load(
      'products',
      names.map((name, at) => ({
        productID: `p${(at * 7919) % 1000}`,
        name: at % 11 === 0 || name === '' ? null : name,
        type: at % 3 === 0 ? 'DIGITAL' : 'PHYSICAL',
        price: String(at % 7),
        currency: 'EUR',
      })),
    );
  });

  it.each(['name', '-name', 'price,-name', '-name,price'])(
    'is the same by offset, behind an object and as a whole, with and without a facet: %s',
    async (sort) => {
      for (const filter of [{}, { type: 'DIGITAL' }] as PlainRequest[]) {
        const list: PlainRequest = { ...filter, sort, fields: 'productID' };
        const { objects } = await comparePage(service, plain, { ...list, limit: '1000' });
        for (let at = 0; at < objects.length; at += 29) {
          const page = { ...list, limit: '29' };
          await comparePage(service, plain, { ...page, offset: String(at) });
          await comparePage(service, plain, { ...page, after: objects[at] ?? '' });
        }
        const url = `/products?${new URLSearchParams(list).toString()}`;
        const { text } = await service.get(url).set('Accept', 'application/x-ndjson').buffer(true);
        const lines = text.trimEnd().split('\n');
        expect(lines.map((line) => (JSON.parse(line) as { productID: string }).productID)).toEqual(
          objects,
        );
      }
    },
  );

  it('has the keys of names that are changed, also where the search path is empty', async () => {
    await service.dataSource.transaction(async (manager) => {
      await manager.query(`SET LOCAL search_path = ''`);
      await manager.query(
        `INSERT INTO public.products ("productID", type, name) VALUES ('new', 'DIGITAL', 'Größe 10')`,
      );
      await manager.query(`UPDATE public.products SET name = 'Größe 9' WHERE "productID" = 'new'`);
    });
    const rows = await service.dataSource.query<
      { name: string | null; nameOrder: string | null }[]
    >(`DELETE FROM products WHERE "productID" = 'new' RETURNING name, "nameOrder"`);
    expect(rows[0]).toEqual([{ name: 'Größe 9', nameOrder: 'grosse 9' }]);
  });

  it('is refused to a client that does not see the name, which nothing tells it', async () => {
    const blind = await service.newClient('blind', { hidden: ['products.name'] });
    const { body } = await blind.get('/products?sort=name').expect(400);
    expect(body.result.errcode).toBe('-25');
    expect(JSON.stringify(body)).not.toContain('nameOrder');
    const described = await service.anonymous().options('/products').set(blind.headers);
    expect(described.text).not.toMatch(/"-name"|nameOrder/);
    const { text } = await service.get('/products?sort=nameOrder').expect(400);
    expect(text).toContain('The parameter sort must not name nameOrder');
  });
});

it('A natural order is that of a column which is declared above it', () => {
  expect(() => {
    class Unordered {
      @PrimaryColumn(identifierColumn)
      unorderedID!: string;

      @NaturalOrder('name')
      nameOrder!: string;

      @Column({ type: 'text' })
      name!: string;
    }
    return Unordered;
  }).toThrow('Unordered.nameOrder orders name: declare that column above it');
});
