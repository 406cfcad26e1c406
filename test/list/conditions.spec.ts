import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FindOperator, type Repository } from 'typeorm';
import { Brand } from '../../src/brands/brand.entity.js';
import {
  IdentifiersParam,
  listOf,
  ListQueryDto,
  QueryOf,
  TextParam,
} from '../../src/list/index.js';
import { type Service, startService } from '../service.js';
import { Part, PartsModule } from './part.fixture.js';

/** A query class of this test's own, since a project may change those of its resources. */
@QueryOf(Brand, { sort: ['brandID'] })
class ListDto extends ListQueryDto {
  @IdentifiersParam('The brands with these identifiers.') brandID?: string[];
  @TextParam('The brands of this name.') name?: string;
}

let service: Service;
let brands: Repository<Brand>;

beforeAll(async () => {
  service = await startService({}, PartsModule);
  brands = service.dataSource.getRepository(Brand);
});
afterAll(() => service.stop());

/** The conditions of a list, operators as their type and value. */
function conditionsOf(values: Partial<ListDto>, meaning = {}): unknown[] {
  // Not by the constructor, which would put the properties in the order of the class.
  const query = Object.assign(Object.create(ListDto.prototype) as ListDto, values);
  const { conditions } = listOf(brands, query, meaning);
  return conditions.map((condition) =>
    Object.fromEntries(
      Object.entries(condition).map(([name, value]) => [
        name,
        value instanceof FindOperator
          ? { [value.type]: value.value as unknown }
          : (value as unknown),
      ]),
    ),
  );
}

describe('A filter without a condition', () => {
  it('means equality with the column of its name', () => {
    expect(conditionsOf({ name: 'Acme' })).toEqual([{ name: 'Acme' }]);
  });

  it('means any of its values', () => {
    expect(conditionsOf({ brandID: ['a', 'b'] })).toEqual([{ brandID: { any: ['a', 'b'] } }]);
  });

  it('means what its condition says where there is one', () => {
    const meaning = { name: (name: string) => ({ brandID: name }) };
    expect(conditionsOf({ name: 'a' }, meaning)).toEqual([{ brandID: 'a' }]);
  });
});

describe('Filters', () => {
  const since = new Date('2026-01-01');

  it('stand in the order of their declaration, whatever that of the request', () => {
    const expected = [
      { brandID: { any: ['a', 'b'] } },
      { name: 'n' },
      { updatedAt: { moreThanOrEqual: since } },
    ];
    expect(conditionsOf({ updatedSince: since, name: 'n', brandID: ['a', 'b'] })).toEqual(expected);
    expect(conditionsOf({ brandID: ['a', 'b'], name: 'n', updatedSince: since })).toEqual(expected);
  });

  it('mean equality with a single value', () => {
    expect(conditionsOf({ brandID: ['a'] })).toEqual([{ brandID: 'a' }]);
  });

  it('that the class of the query does not declare are an error, and are not ignored', () => {
    const literal: ListDto = { name: 'Acme' };
    expect(() => listOf(brands, literal)).toThrow(new TypeError('Object does not declare name'));
  });
});

it('A list of an entity without a time of change does not take updatedSince', async () => {
  expect(service.dataSource.getMetadata(Part).updateDateColumn).toBeUndefined();
  const { body } = await service.get('/test_parts?updatedSince=2026-01-01T00:00:00Z').expect(400);
  expect(body.result.errcode).toBe('-23');
});
