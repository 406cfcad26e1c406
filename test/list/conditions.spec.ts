import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  And,
  type EntityMetadata,
  type FindOperator,
  In,
  IsNull,
  LessThan,
  MoreThan,
  Not,
  Or,
  type Repository,
} from 'typeorm';
import { Brand } from '../../src/brands/brand.entity.js';
import { ParameterValues } from '#server/database/statement.js';
import type { Condition } from '#server/list/condition/condition.js';
import {
  type Conditions,
  conditionsOf as filterConditions,
  type RequiredFilter,
} from '#server/list/condition/filters.js';
import { conditionsFrom } from '#server/list/condition/from-typeorm.js';
import { sqlOf } from '#server/list/condition/print.js';
import {
  DateTimeParam,
  IdentifiersParam,
  listOf,
  ListQueryDto,
  QueryOf,
  TextParam,
  TextsParam,
} from '@catalogue/server';
import { sharedService } from '../service.js';
import { Part, PartsModule } from './part.fixture.js';
import { TestSupplier, SuppliersModule } from './supplier.fixture.js';

/** A query class of this test's own, since a project may change those of its resources. */
@QueryOf(Brand, { sort: ['brandID'] })
class ListDto extends ListQueryDto {
  @IdentifiersParam('The brands with these identifiers.') brandID?: string[];
  @TextParam('The brands of this name.') name?: string;
  @TextParam('The brands whose name begins with this.') nameStarts?: string;
}

/** Filters whose names say what they mean. */
@QueryOf(TestSupplier)
class NamedDto extends ListQueryDto {
  @TextsParam('Of none of these countries.') countryNot?: string[];
  @TextParam('Of a country that begins with this.') countryStarts?: string;
  @DateTimeParam('First stored at this time or later.') declare createdSince?: Date;
  @DateTimeParam('First stored before this time.') declare createdUntil?: Date;
}

const service = sharedService({}, PartsModule, SuppliersModule);
let suppliers: Repository<TestSupplier>;
let brands: Repository<Brand>;

beforeAll(() => {
  suppliers = service.dataSource.getRepository(TestSupplier);
  brands = service.dataSource.getRepository(Brand);
});

/** The conditions of a list. */
function conditionsOf(values: Partial<ListDto>, meaning = {}): readonly Condition[] {
  // Not by the constructor, which would put the properties in the order of the class.
  const query = Object.assign(Object.create(ListDto.prototype) as ListDto, values);
  return listOf(brands, query, meaning).filters;
}

const equal = (column: string, ...values: unknown[]) => ({ kind: 'equal', column, values });

describe('A filter without a condition', () => {
  it('means equality with the column of its name', () => {
    expect(conditionsOf({ name: 'Acme' })).toEqual([equal('name', 'Acme')]);
  });

  it('means what its condition says where there is one', () => {
    const meaning = { name: (name: string) => ({ brandID: name }) };
    expect(conditionsOf({ name: 'a' }, meaning)).toEqual([equal('brandID', 'a')]);
  });
});

describe('An operator of TypeORM', () => {
  const on = (operator: FindOperator<string>) =>
    conditionsFrom(suppliers.metadata, { country: operator });

  it('excludes values only beside those of no value', () => {
    const notIn = Not(In(['FR', 'IT']));
    expect(on(Or(notIn, IsNull()))).toEqual([
      { kind: 'not', column: 'country', values: ['FR', 'IT'] },
    ]);
    expect(on(Or(notIn, Not(IsNull())))).toEqual([
      {
        kind: 'any',
        of: [
          [{ kind: 'negation', of: [equal('country', 'FR', 'IT')] }],
          [{ kind: 'exists', column: 'country', exists: true }],
        ],
      },
    ]);
  });

  it('denies several conditions together', () => {
    const values = new ParameterValues();
    const context = { metadata: suppliers.metadata, values };
    const [denied, ...others] = on(Not(And(MoreThan('B'), LessThan('D'))));
    expect(others).toEqual([]);
    expect(denied && sqlOf(denied, context)).toBe(
      'NOT (object."country" > $1 AND object."country" < $2)',
    );
  });
});

describe('A filter that is named after a column', () => {
  /** The conditions of a list of suppliers in SQL, with its parameter values. */
  function conditionsIn(values: Partial<NamedDto>): [sql: string, values: unknown[]] {
    const query = Object.assign(Object.create(NamedDto.prototype) as NamedDto, values);
    const { filters } = listOf(suppliers, query);
    const sent = new ParameterValues();
    const place = { metadata: suppliers.metadata, values: sent, table: 's' };
    return [filters.map((each) => sqlOf(each, place)).join(' AND '), sent.values];
  }
  const time = new Date('2026-01-01');

  it.each([
    [true, { kind: 'not', column: 'country', values: ['FR'] }],
    [false, equal('country', 'DE', 'IT')],
  ])('excludes values of an enumeration that may be missing: %s', (isNullable, condition) => {
    const all = ['DE', 'FR', 'IT'];
    const column = { propertyName: 'country', type: 'enum', enum: all, isNullable };
    const metadata = Object.create(suppliers.metadata, {
      findColumnWithPropertyName: { value: () => column },
    }) as EntityMetadata;
    const query = Object.assign(new NamedDto(), { countryNot: ['FR'] });
    expect(filterConditions(metadata, query, {})).toEqual([condition]);
  });

  it('begins at a time, which it includes, and ends before one', () => {
    expect(conditionsIn({ createdSince: time })).toEqual(['s."createdAt" >= $1', [time]]);
    expect(conditionsIn({ createdUntil: time })).toEqual(['s."createdAt" < $1', [time]]);
    expect(conditionsIn({ updatedUntil: time })).toEqual(['s."updatedAt" < $1', [time]]);
  });

  it('begins with a text, whose % and _ are what they are', () => {
    expect(conditionsIn({ countryStarts: 'D' })).toEqual(['s."country" LIKE $1', ['D%']]);
    expect(conditionsIn({ countryStarts: '\\%_' })[1]).toEqual(['\\\\\\%\\_%']);
  });

  it.each([
    ['ac', 'ad'],
    ['a%', 'a&'],
    ['a\u{10ffff}', 'b'],
    ['a\ud7ff', 'a\ue000'],
    ['\u{10ffff}', undefined],
  ])('begins with %j in the collation C: until %j', (value, end) => {
    const [condition] = conditionsOf({ nameStarts: value });
    const upper = end === undefined ? {} : { upper: { value: end, inclusive: false } };
    const lower = { value, inclusive: true };
    expect(condition).toEqual({ kind: 'interval', column: 'name', lower, ...upper });
  });

  it('begins with a text that an index finds', async () => {
    await service.dataSource.query(
      `INSERT INTO brands ("brandID", name) SELECT 'x' || at, chr(97 + at % 26) || at FROM generate_series(1, 5000) at`,
    );
    await service.dataSource.query('ANALYZE brands');
    const values = new ParameterValues();
    const place = { metadata: brands.metadata, values };
    const [where = ''] = conditionsOf({ nameStarts: 'c1' }).map((each) => sqlOf(each, place));
    const plan = await service.dataSource.query<{ 'QUERY PLAN': string }[]>(
      `EXPLAIN SELECT FROM brands object WHERE ${where}`,
      values.values,
    );
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(text).toMatch(/Index Cond: .*>= 'c1'.* < 'c2'/);
    expect(text).not.toContain('Filter:');
  });

  it('excludes items of an array, and asks whether there is one, also where it is never null', () => {
    interface Tagged {
      tags: string[];
      sizes: number[];
    }
    class TaggedDto extends ListQueryDto {
      tags?: string[];
      tagsNot?: string[];
      tagsExists?: boolean;
      sizesNot?: string[];
    }
    // @ts-expect-error -- sizesNot needs a condition
    const without: Conditions<Tagged, TaggedDto> = {};
    const required: RequiredFilter<Tagged, TaggedDto> = 'sizesNot';
    // @ts-expect-error -- what it means is known
    const other: RequiredFilter<Tagged, TaggedDto> = 'tagsNot';
    expect([without, required, other]).toEqual([{}, 'sizesNot', 'tagsNot']);
  });

  it('compiles only with the type of the column, and Exists only if it can be null', () => {
    class WrongDto extends ListQueryDto {
      activeNot?: string[];
      activeExists?: boolean;
      countryExists?: string;
      nowhereNot?: string[];
      ratingSince?: Date;
    }
    type Wrong = Record<keyof Omit<WrongDto, keyof ListQueryDto>, () => object>;
    const conditions: Conditions<TestSupplier, WrongDto> = {} as Wrong;
    // @ts-expect-error -- each of them needs a condition
    const without: Conditions<TestSupplier, WrongDto> = {};
    const required: Record<RequiredFilter<TestSupplier, WrongDto>, true> = {
      activeNot: true,
      activeExists: true,
      countryExists: true,
      nowhereNot: true,
      ratingSince: true,
    };
    expect([conditions, without, Object.keys(required).length]).toEqual([{}, {}, 5]);
  });
});

describe('Filters', () => {
  const since = new Date('2026-01-01');

  it('stand in the order of their declaration, whatever that of the request', () => {
    const expected = [
      equal('brandID', 'a', 'b'),
      equal('name', 'n'),
      { kind: 'interval', column: 'updatedAt', lower: { value: since, inclusive: true } },
    ];
    expect(conditionsOf({ updatedSince: since, name: 'n', brandID: ['a', 'b'] })).toEqual(expected);
    expect(conditionsOf({ brandID: ['a', 'b'], name: 'n', updatedSince: since })).toEqual(expected);
  });

  it('that the class of the query does not declare are an error, and are not ignored', () => {
    const literal: ListDto = { name: 'Acme' };
    expect(() => listOf(brands, literal)).toThrow(new TypeError('Object does not declare name'));
  });
});

it('A list of an entity without a time of change does not take updatedSince', async () => {
  expect(service.dataSource.getMetadata(Part).updateDateColumn).toBeUndefined();
  for (const name of ['updatedSince', 'updatedUntil', 'createdSince', 'createdUntil']) {
    const { body } = await service.get(`/test_parts?${name}=2026-01-01T00:00:00Z`).expect(400);
    expect(body.result.errcode).toBe('-23');
  }
});

it('A list takes createdSince only if it is filtered or sorted by the time of creation', async () => {
  expect(service.dataSource.getMetadata(Brand).createDateColumn).toBeDefined();
  for (const [name, status] of [
    ['updatedUntil', 200],
    ['createdSince', 400],
    ['createdUntil', 400],
  ] as const) {
    await service.get(`/brands?${name}=2026-01-01T00:00:00Z`).expect(status);
  }
});
