import { describe, expect, it } from '@jest/globals';
import {
  Any,
  Between,
  type EntityMetadata,
  IsNull,
  LessThan,
  Like,
  MoreThanOrEqual,
  Not,
  type ObjectLiteral,
  Or,
  Raw,
} from 'typeorm';
import { conditionsFrom } from '#server/list/condition/from-typeorm.js';
import { type Criteria, criteriaOf as read } from '#server/list/statement/criteria.js';

/** `a` and `b` are texts, the other columns are called like their types. */
const COLUMNS = {
  findColumnWithPropertyName: (name: string) => ({ type: name.length === 1 ? 'varchar' : name }),
} as unknown as EntityMetadata;

/** The criteria of conditions as TypeORM takes them. */
function criteriaOf(conditions: readonly ObjectLiteral[]): Criteria | undefined {
  return read(
    conditions.flatMap((each) => conditionsFrom(COLUMNS, each)),
    COLUMNS,
  );
}

const none = {
  equal: new Map(),
  intervals: [],
  missing: [],
  excluded: new Map(),
  search: undefined,
};

describe('The criteria of conditions', () => {
  it('tell values, bounds, and what is missing or excluded, each of its column', () => {
    expect(criteriaOf([])).toEqual(none);
    expect(criteriaOf([{ a: Any(['x', 'y', 'x']) }, { b: 'z' }])).toEqual({
      ...none,
      equal: new Map([
        ['a', ['x', 'y']],
        ['b', ['z']],
      ]),
    });
    expect(criteriaOf([{ a: IsNull(), b: Or(Not(Any(['x', 'x'])), IsNull()) }])).toEqual({
      ...none,
      missing: ['a'],
      excluded: new Map([['b', ['x']]]),
    });
    expect(criteriaOf([{ a: Not(IsNull()) }])).toEqual({
      ...none,
      intervals: [{ column: 'a' }],
    });
    const lower = { value: 1, inclusive: true };
    expect(criteriaOf([{ a: Not(IsNull()) }, { a: MoreThanOrEqual(1) }])).toEqual({
      ...none,
      intervals: [{ column: 'a', lower }],
    });
  });

  it('tell values of any type as PostgreSQL writes them', () => {
    for (const condition of [
      { integer: 7, bigint: '-7', boolean: true },
      { uuid: 'aaaaaaaa-0000-4000-8000-000000000000', int: Any([0, 10]) },
    ]) {
      expect(criteriaOf([condition])?.equal.size).toBe(Object.keys(condition).length);
    }
  });

  it.each([
    // Without objects that have no value.
    ['an exclusion alone', [{ a: Not(Any(['x'])) }]],
    ['no exclusion', [{ a: Or(Any(['x']), IsNull()) }]],
    ['an exclusion or existence', [{ a: Or(Not(Any(['x'])), Not(IsNull())) }]],
    ['an alternative of a value', [{ a: Or(Not(Any(['x'])), Any(['x'])) }]],
    ['more alternatives', [{ a: Or(Not(Any(['x'])), IsNull(), Any(['x'])) }]],
    ['an exclusion of an interval', [{ a: Or(Not(LessThan('x')), IsNull()) }]],
    ['an exclusion of what is no value', [{ a: Or(Not(Any([{}])), IsNull()) }]],
    ['a double negation', [{ a: Not(Not(IsNull())) }]],
    ['the negation of a value', [{ a: Not('x') }]],
    ['a pattern', [{ a: Like('x%') }]],
    ['SQL', [{ a: Raw('true') }]],
    ['values and their exclusion', [{ a: 'x' }, { a: Or(Not(Any(['x'])), IsNull()) }]],
    ['an exclusion and a bound', [{ a: Or(Not(Any(['x'])), IsNull()) }, { a: LessThan('x') }]],
    ['existence and its exclusion', [{ a: Not(IsNull()) }, { a: IsNull() }]],
    ['existence and values', [{ a: Not(IsNull()) }, { a: 'x' }]],
    ['a missing value and a value', [{ a: IsNull() }, { a: 'x' }]],
    // The tally has the texts of PostgreSQL.
    ['an integer with a zero before it', [{ integer: '07' }]],
    ['one of several integers with a sign', [{ int: Any(['7', '+7']) }]],
    ['an integer with a space', [{ bigint: ' 7' }]],
    ['a boolean in another form', [{ boolean: 't' }]],
    ['a UUID in capitals', [{ uuid: 'AAAAAAAA-0000-4000-8000-000000000000' }]],
    ['values that have one in common, written in two ways', [{ integer: '07' }, { integer: 7 }]],
    ['a bound that is undefined', [{ a: MoreThanOrEqual(undefined) }]],
    ['a bound that is null', [{ a: LessThan(null) }]],
    ['two bounds, one of which is missing', [{ a: Between('x', undefined) }]],
    ['an excluded one', [{ uuid: Or(Not(Any(['{0}'])), IsNull()) }]],
  ])('are unknown for %s', (_, conditions) => {
    expect(criteriaOf(conditions)).toBeUndefined();
  });
});
