import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { Column, ForeignKey, PrimaryColumn } from 'typeorm';
import { Category } from '../../src/categories/category.entity.js';
import { countableFieldsOf } from '#server/list/facets/countable-fields.js';
import {
  identifierColumn,
  IdentifiersParam,
  ListQueryDto,
  QueryOf,
  Resource,
} from '@catalogue/server';
import { refusal, sharedService } from '../service.js';

const service = sharedService();

/** `field value label count` of each object. */
async function counts(query: string): Promise<string[]> {
  const { body } = await service.get(`/facets/products?${query}`).expect(200);
  const { objects } = body.response_data as { objects: Record<string, string | null>[] };
  return objects.map((each) => Object.values(each).map(String).join(' '));
}

const PRICES = ['1', '9.99', '10', '10.00', '10.01', '49.5', '50', '50', '120', null, null, null];

beforeAll(async () => {
  await service.load('brands', [
    { brandID: 'b1', name: 'Ätna “Works”' },
    { brandID: 'b2', name: 'Acme' },
    { brandID: 'atlas', name: 'Zenith' },
  ]);
  for (const [categoryID, parentID, name] of [
    ['garden', null, 'Garden'],
    ['tools', 'garden', 'Tools'],
    ['spades', 'tools', 'Spades'],
    ['kitchen', null, 'Kitchen'],
  ]) {
    await service.load('categories', [{ categoryID, parentID, name }]);
  }
  await service.load(
    'products',
    PRICES.map((price, at) => ({
      productID: `p${at}`,
      type: 'PHYSICAL',
      brandID: ['b1', 'b1', 'b2', 'atlas', null][at % 5],
      categoryID: ['garden', 'spades', 'tools', 'spades', null, 'kitchen'][at % 6],
      price,
      currency: 'EUR',
      createdAt: `2026-01-0${1 + (at % 3)}T00:00:00.000Z`,
    })),
  );
});

describe('Facet counts of related objects', () => {
  it('have the name of the object as their label, and null where there is none', async () => {
    expect(await counts('facets=brandID,type')).toEqual([
      'type PHYSICAL null 12',
      'brandID b1 Ätna “Works” 6',
      'brandID atlas Zenith 2',
      'brandID b2 Acme 2',
    ]);
  });

  it('change with the name of the object', async () => {
    const path = '/facets/products?facets=brandID&limit=1';
    const { headers } = await service.get(path).expect(200);
    await service.dataSource.query(`UPDATE brands SET name = 'Other' WHERE "brandID" = 'b1'`);
    const changed = await service
      .get(path)
      .set('If-None-Match', headers.etag ?? '')
      .expect(200);
    expect(changed.body.response_data.objects).toEqual([
      { field: 'brandID', value: 'b1', label: 'Other', count: '6' },
    ]);
    await service.dataSource.query(
      `UPDATE brands SET name = 'Ätna “Works”' WHERE "brandID" = 'b1'`,
    );
  });

  it.each([
    ['ATN', ['brandID b1 Ätna “Works” 6']],
    ['atna+wor', ['brandID b1 Ätna “Works” 6']],
    ['at', ['brandID b1 Ätna “Works” 6', 'brandID atlas Zenith 2']],
    ['z', ['brandID atlas Zenith 2']],
    ['works', []],
  ])('keep the values that begin with %s, or whose label does', async (start, expected) => {
    const query = `facets=brandID&facetStarts=${start}`;
    expect(await counts(query)).toEqual(expected);
    const { body } = await service.get(`/facets/products?${query}&limit=0`).expect(200);
    expect(body.response_data).toEqual({ count: String(expected.length), objects: [] });
  });
});

describe('Facet counts of a tree', () => {
  it('have each node with all below it, whatever the filters on the tree say', async () => {
    const expected = [
      'within garden Garden 8',
      'within tools Tools 6',
      'within spades Spades 4',
      'within kitchen Kitchen 2',
    ];
    expect(await counts('facets=within')).toEqual(expected);
    expect(await counts('facets=within&within=kitchen&categoryID=tools')).toEqual(expected);
    expect(await counts('facets=within&facetStarts=tool')).toEqual(['within tools Tools 6']);
    expect(await counts('facets=within&brandID=b2')).toEqual([
      'within garden Garden 2',
      'within tools Tools 2',
      'within spades Spades 1',
    ]);
  });

  it('count what the filter finds', async () => {
    for (const count of await counts('facets=within')) {
      const [, node, , total] = count.split(' ');
      const { body } = await service.get(`/products?within=${node}&limit=0`).expect(200);
      expect(body.response_data.count).toBe(total);
    }
  });
});

describe('Facet counts of a number or a time', () => {
  it('are the least and the greatest value, with the decimals that they came with', async () => {
    expect(await counts('facets=price,createdAt')).toEqual([
      'price 1..120 null 9',
      'createdAt 2026-01-01T00:00:00.000Z..2026-01-03T00:00:00.000Z null 12',
    ]);
    expect(await counts('facets=price&priceMin=50&brandID=b2')).toEqual(['price 10..50 null 2']);
    expect(await counts('facets=price&priceExists=true&limit=0')).toEqual([]);
    expect(await counts('facets=price&brandID=nobody')).toEqual([]);
  });

  it('are those of each interval between bounds, the lower bound with it and the upper one without', async () => {
    expect(await counts('facets=price&bounds=1,10,50,1000')).toEqual([
      'price ..1 null 0',
      'price 1..10 null 2',
      'price 10..50 null 4',
      'price 50..1000 null 3',
      'price 1000.. null 0',
    ]);
    // Counted by the tally, by the objects of a filter, and of a time.
    expect(await counts('facets=price&bounds=10&type=PHYSICAL')).toEqual([
      'price ..10 null 2',
      'price 10.. null 7',
    ]);
    expect(await counts('facets=price&bounds=10.0&q=nothing&limit=1')).toEqual([
      'price ..10.0 null 0',
      'price 10.0.. null 0',
    ]);
    expect(await counts('facets=createdAt&bounds=2026-01-02T01:00:00%2B01:00')).toEqual([
      'createdAt ..2026-01-02T00:00:00.000Z null 4',
      'createdAt 2026-01-02T00:00:00.000Z.. null 8',
    ]);
  });
});

const ONE_RANGE =
  'The parameter bounds must be given with facets as one of price, createdAt, updatedAt';
const ONE_FIELD =
  'The parameter facetStarts must be given with facets as one of type, brandID, categoryID, currency, colours, inStock, within';

it.each([
  ['bounds=1', ONE_RANGE],
  ['bounds=1&facets=price,type', ONE_RANGE],
  ['bounds=1&facets=type', ONE_RANGE],
  [
    'bounds=&facets=price',
    'The parameter bounds must be values separated by commas, each a decimal number such as 19.99',
  ],
  [
    'bounds=1,x&facets=price',
    'The parameter bounds must be values separated by commas, each a decimal number such as 19.99',
  ],
  [
    'bounds=1,1.0&facets=price',
    'The parameter bounds must be in ascending order, without repetitions',
  ],
  [
    'bounds=9,10,-1&facets=price',
    'The parameter bounds must be in ascending order, without repetitions',
  ],
  [
    'bounds=1&facets=createdAt',
    'The parameter bounds must be values separated by commas, each an RFC 3339 time with a zone, such as 2026-11-21T12:00:00Z',
  ],
  [
    `bounds=${Array.from({ length: 51 }, (_, at) => at).join()}&facets=price`,
    'The parameter bounds must be 1 to 50 values, separated by commas',
  ],
  ['facetStarts=a', ONE_FIELD],
  ['facetStarts=a&facets=type,brandID', ONE_FIELD],
  ['facetStarts=a&facets=price', ONE_FIELD],
  ['facetStarts=a&facets=price&bounds=1', 'The parameter facetStarts must be given without bounds'],
  [
    'facetStarts=-&facets=type',
    'The parameter facetStarts must be text of 1 to 500 characters, with a letter or a digit',
  ],
])('Facet counts refuse %s', async (query, message) => {
  await service.get(`/facets/products?${query}`).expect(400, refusal(-22, message));
});

it.each([
  ['facets', 'bounds=y&limit=x&facets=price', 'bounds'],
  ['facets', 'limit=x&bounds=y&facets=price', 'limit'],
  ['facets', 'facetStarts=a&limit=x&facets=price', 'facetStarts'],
  ['facets', 'limit=x&facetStarts=a&facets=price', 'limit'],
  ['lists', 'after=p1&limit=x&offset=5', 'after'],
  ['lists', 'sort=relevance&limit=x', 'sort'],
])(
  'A parameter that depends on others is checked in the order sent: %s, %s',
  async (of, query, named) => {
    const path = of === 'facets' ? '/facets/products' : '/products';
    const { body } = await service.get(`${path}?${query}`).expect(400);
    expect(body.result.msg).toContain(`The parameter ${named} must be`);
  },
);

it('An invalid name of a facet is reported in place of what depends on it', async () => {
  const { body } = await service.get('/facets/products?bounds=1&facets=bogus').expect(400);
  expect(body.result.msg).toContain('The parameter facets must not name bogus');
});

describe('The names of facets', () => {
  const named = (entity: Type) => {
    @QueryOf<Record<string, unknown>>(entity, { sort: ['size', 'cost'] })
    class ListDto extends ListQueryDto {
      @IdentifiersParam('Within these.') within?: string[];
    }
    expect(ListDto).toBeDefined();
    return countableFieldsOf(entity).names;
  };

  it('have within if one column alone refers to a tree, and sorted numbers that are public', () => {
    @Resource('test_one_tree', { counted: ['categoryID'] })
    class OneTree {
      @PrimaryColumn(identifierColumn) oneID!: string;
      @ForeignKey(() => Category) @Column(identifierColumn) categoryID!: string;
      @Column('integer') size!: number;
      @Column({ type: 'integer', select: false }) cost!: number;
    }
    expect(named(OneTree)).toEqual(['categoryID', 'size', 'within']);
  });

  it('have no within of a tree that refers to another, whose filter compares its identifier', () => {
    @Resource('test_two_trees', { counted: ['categoryID'] })
    class TwoTrees {
      @PrimaryColumn(identifierColumn) twoID!: string;
      @ForeignKey(() => TwoTrees) @Column(identifierColumn) parentID!: string;
      @ForeignKey(() => Category) @Column(identifierColumn) categoryID!: string;
      @Column('integer') size!: number;
      @Column('integer') cost!: number;
    }
    expect(named(TwoTrees)).toEqual(['categoryID', 'size', 'cost']);
  });

  it('have no within of a column whose name says of no object', () => {
    @Resource('test_unnamed_tree', { counted: ['shelf'] })
    class Unnamed {
      @PrimaryColumn(identifierColumn) unnamedID!: string;
      @ForeignKey(() => Category) @Column(identifierColumn) shelf!: string;
      @Column('integer') size!: number;
      @Column('integer') cost!: number;
    }
    expect(named(Unnamed)).toEqual(['shelf', 'size', 'cost']);
  });
});
