import { beforeAll, describe, expect, it } from '@jest/globals';
import { Column, LessThan, MoreThan, MoreThanOrEqual, PrimaryColumn } from 'typeorm';
import {
  DateParam,
  DateTimeParam,
  identifierColumn,
  ListQueryDto,
  NumberParam,
  QueryOf,
  Resource,
  SignedDecimalParam,
} from '@catalogue/server';
import { findViolations } from '#server/verify/verify.js';
import { startWith } from './migrated.js';
import { controllerOf, resourceModule } from './resource-module.js';
import { shared } from '#server/testing/shared.js';

/** An external table, whose columns may have what JSON has no form for. */
@Resource('test_readings', {
  external: { schema: 'lab', name: 'readings' },
})
class Reading {
  @PrimaryColumn(identifierColumn)
  readingID!: string;

  @Column(identifierColumn)
  kind!: string;

  @Column({ type: 'date', nullable: true })
  day!: string | null;

  @Column({ type: 'timestamptz' })
  at!: Date;

  @Column({ type: 'numeric', nullable: true })
  amount!: string | null;

  @Column({ type: 'double precision' })
  weight!: number;
}

@QueryOf(Reading, { sort: ['readingID', 'day', 'at', 'amount', 'weight'] })
class ListReadingsDto extends ListQueryDto {
  @SignedDecimalParam('Of at least this amount.') amountMin?: string;
  @SignedDecimalParam('Of less than this amount.') amountMax?: string;
  @NumberParam('Heavier than this.') weightAbove?: number;
  @DateParam('Of this day or later.') dayMin?: string;
  @DateTimeParam('At this time or later.') atSince?: Date;
  @DateTimeParam('Before this time.') atUntil?: Date;
}

const ReadingsModule = resourceModule(
  [Reading],
  controllerOf(
    Reading,
    { list: ListReadingsDto },
    {
      amountMax: (maximum) => ({ amount: LessThan(maximum) }),
      weightAbove: (weight) => ({ weight: MoreThan(weight) }),
      atSince: (time) => ({ at: MoreThanOrEqual(time) }),
      atUntil: (time) => ({ at: LessThan(time) }),
    },
  ),
);

const ROWS = `
  ('a', 'k', '0044-03-15 BC', '0044-03-15 12:00:00+00 BC', '-Infinity', '-Infinity'),
  ('b', 'k', '2026-01-01', '2026-01-01 00:00:00+00', 1.50, 1.5),
  ('c', 'k', '10000-01-01', '10000-01-01 00:00:00+00', 'Infinity', 'Infinity'),
  ('d', 'k', 'infinity', 'infinity', 'NaN', 'NaN'),
  ('e', 'k', '-infinity', '-infinity', NULL, 0)`;

const service = shared(() =>
  startWith(ReadingsModule, {
    before: [
      'CREATE SCHEMA lab',
      `CREATE TABLE lab.readings ("readingID" varchar(100) COLLATE "C" PRIMARY KEY,
         kind varchar(100) COLLATE "C" NOT NULL, day date, at timestamptz NOT NULL, amount numeric,
         weight double precision NOT NULL)`,
      `INSERT INTO lab.readings VALUES ${ROWS}`,
    ],
  }),
);

beforeAll(async () => {
  await service.load('products', [
    { productID: 'p1', type: 'PHYSICAL' },
    { productID: 'p2', type: 'PHYSICAL' },
    { productID: 'p3', type: 'PHYSICAL' },
  ]);
});

async function objects(path: string): Promise<Record<string, unknown>[]> {
  const { body } = await service.get(path).expect(200);
  expect(body.response_data.objects).toHaveLength(Number(body.response_data.count));
  return body.response_data.objects;
}

const identifiers = async (query: string) =>
  (await objects(`/test_readings?fields=readingID&${query}`)).map(({ readingID }) => readingID);

describe('What PostgreSQL has and JSON has not', () => {
  const SHOWN = [
    ['0044-03-15 BC', '0044-03-15T12:00:00 BC', '-Infinity', '-Infinity'],
    ['2026-01-01', '2026-01-01T00:00:00.000Z', '1.50', 1.5],
    ['10000-01-01', '10000-01-01T00:00:00', 'Infinity', 'Infinity'],
    ['infinity', 'infinity', 'NaN', 'NaN'],
    ['-infinity', '-infinity', null, 0],
  ];

  it('is the text of PostgreSQL, in every format', async () => {
    const found = await objects('/test_readings');
    expect(found.map(({ day, at, amount, weight }) => [day, at, amount, weight])).toEqual(SHOWN);
    const { text } = await service.get('/test_readings').set('Accept', 'text/csv').expect(200);
    expect(text.split('\r\n').slice(1, -1)).toEqual(
      SHOWN.map((values, at) => ['abcde'[at], 'k', ...values].join()),
    );
  });

  it('is documented for an external table', async () => {
    const { body } = await service.anonymous().get('/openapi.json').expect(200);
    const { properties } = body.components.schemas.Reading;
    expect(properties.weight).toMatchObject({ type: ['number', 'string'] });
    expect(properties.day).toMatchObject({ type: ['string', 'null'] });
    for (const [day, at, amount, weight] of SHOWN) {
      for (const [value, { anyOf, pattern }] of [
        [day, properties.day],
        [at, properties.at],
        [amount, properties.amount],
        [weight, properties.weight],
      ]) {
        if (typeof value !== 'string') continue;
        const patterns: { pattern?: string }[] = anyOf ?? [{ pattern }];
        const isWritten = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(value);
        const isMatched = patterns.some(
          (each) => each.pattern && new RegExp(each.pattern).test(value),
        );
        expect([value, isMatched || isWritten]).toEqual([value, true]);
      }
    }
    expect(new RegExp(properties.amount.pattern).test('1e5')).toBe(false);
    expect(new RegExp(properties.weight.pattern).test('1.5')).toBe(false);
    expect(body.components.schemas.Product.properties.createdAt).toMatchObject({
      format: 'date-time',
    });
  });

  it.each([
    ['amountMin=1', ['b', 'c']],
    ['amountMin=1&amountMax=2', ['b']],
    ['amountMax=2', ['a', 'b']],
    ['weightAbove=1', ['b', 'c']],
    ['dayMin=2026-01-01', ['b', 'c', 'd']],
    ['atSince=2026-01-01T00:00:00Z', ['b', 'c', 'd']],
    ['atUntil=2026-01-01T00:00:00Z', ['a', 'e']],
    ['sort=amount', ['a', 'b', 'c', 'd', 'e']],
    ['sort=-at', ['d', 'c', 'b', 'a', 'e']],
  ])('is filtered and sorted by as what it is: %s', async (query, expected) => {
    expect(await identifiers(query)).toEqual(expected);
    const last = expected.length - 1;
    expect(await identifiers(`${query}&limit=1000`)).toEqual(expected);
    for (const [at, after] of expected.entries()) {
      const path = `/test_readings?${query}&after=${after}&fields=readingID`;
      const { body } = await service.get(path).expect(200);
      const rest = body.response_data.objects.map(({ readingID }: Reading) => readingID);
      expect([after, rest]).toEqual([after, at === last ? [] : expected.slice(at + 1)]);
    }
  });

  it('is shown, and named by verify, in a table of the service', async () => {
    const set = (time: string, productID: string) =>
      service.dataSource.query(`UPDATE products SET "createdAt" = $1 WHERE "productID" = $2`, [
        time,
        productID,
      ]);
    await set('infinity', 'p1');
    await set('0044-03-15 12:00:00+00 BC', 'p2');
    expect((await objects('/products?fields=createdAt'))[0]).toEqual({ createdAt: 'infinity' });
    const [limits] = await objects('/facets/products?facets=createdAt');
    expect(limits).toMatchObject({ value: '0044-03-15T12:00:00 BC..infinity', count: '3' });
    const found = (await findViolations(service.application)).filter((line) =>
      line.includes('JSON'),
    );
    expect(found).toEqual([
      '2 products have a createdAt for which JSON has no form: infinity, NaN, or a year before 1 or after 9999',
    ]);
  });
});
