import { type EntityMetadata, FindOperator, type ObjectLiteral } from 'typeorm';
import { withParameters } from '../../database/statement.js';
import type { ColumnCondition, Condition, OpaqueSql, Operator } from './condition.js';

/** An operator of lists, beside those of TypeORM, which cannot read it. It fits a column of any type. */
export class ListOperator extends FindOperator<never> {
  constructor(
    name: string,
    /** Makes the conditions on a column of an entity. */
    readonly make: (column: string, metadata: EntityMetadata) => Condition[],
  ) {
    super('raw', undefined as never, false, false, () => {
      throw new TypeError(`${name} is a condition of listOf`);
    });
  }
}

/**
 * Converts what an author writes as TypeORM's `where` takes it: an object with an entry for each column, combined with
 * AND, or a list of such objects, combined with OR. An entry is a value, or an operator.
 */
export function conditionsFrom(metadata: EntityMetadata, where: ObjectLiteral): Condition[] {
  const alternatives = (Array.isArray(where) ? (where as ObjectLiteral[]) : [where]).map((each) =>
    Object.entries(each).flatMap(([column, compared]) => conditionsOn(column, compared, metadata)),
  );
  return alternatives.length > 1 ? [{ kind: 'any', of: alternatives }] : alternatives.flat();
}

function conditionsOn(column: string, compared: unknown, metadata: EntityMetadata): Condition[] {
  if (!(compared instanceof FindOperator)) return [{ kind: 'equal', column, values: [compared] }];
  if (compared instanceof ListOperator) return compared.make(column, metadata);
  const { type, child } = compared;
  const value: unknown = compared.value;
  const on = (operand: unknown): Condition[] => conditionsOn(column, operand, metadata);
  switch (type) {
    case 'equal':
      return [{ kind: 'equal', column, values: [value] }];
    case 'in':
    case 'any':
      return [{ kind: 'equal', column, values: value as readonly unknown[] }];
    case 'isNull':
      return [{ kind: 'exists', column, exists: false }];
    case 'lessThan':
    case 'lessThanOrEqual':
    case 'moreThan':
    case 'moreThanOrEqual':
      return [bound(column, type, value)];
    case 'between': {
      const [lower, upper] = value as readonly unknown[];
      return between(column, lower, upper);
    }
    case 'like':
    case 'ilike':
    case 'arrayOverlap':
    case 'arrayContains':
    case 'arrayContainedBy':
    case 'jsonContains':
      return [{ kind: 'comparison', column, operator: OPERATORS[type], value }];
    case 'not':
      if (!child) return [{ kind: 'comparison', column, operator: '!=', value }];
      if (child.type === 'isNull') return [{ kind: 'exists', column, exists: true }];
      return [{ kind: 'negation', of: on(child) }];
    case 'and':
      return (value as readonly unknown[]).flatMap(on);
    case 'or':
      return [anyOf(column, (value as readonly unknown[]).map(on))];
    case 'raw':
      return [{ kind: 'sql', column, sql: rawSql(compared) }];
  }
}

const OPERATORS = {
  lessThan: '<',
  lessThanOrEqual: '<=',
  moreThan: '>',
  moreThanOrEqual: '>=',
  like: 'LIKE',
  ilike: 'ILIKE',
  arrayOverlap: '&&',
  arrayContains: '@>',
  arrayContainedBy: '<@',
  jsonContains: '::jsonb @>',
} as const satisfies Record<string, Operator>;

type Bounding = 'lessThan' | 'lessThanOrEqual' | 'moreThan' | 'moreThanOrEqual';

/** An interval with one bound. Nothing is more or less than null. */
function bound(column: string, type: Bounding, value: unknown): ColumnCondition {
  if (value === null || value === undefined) {
    return { kind: 'comparison', column, operator: OPERATORS[type], value };
  }
  const one = { value, inclusive: type.endsWith('OrEqual') };
  return type === 'lessThan' || type === 'lessThanOrEqual'
    ? { kind: 'interval', column, upper: one }
    : { kind: 'interval', column, lower: one };
}

function between(column: string, lower: unknown, upper: unknown): ColumnCondition[] {
  const both = [bound(column, 'moreThanOrEqual', lower), bound(column, 'lessThanOrEqual', upper)];
  const [one, other] = both;
  return one?.kind === 'interval' && other?.kind === 'interval' ? [{ ...one, ...other }] : both;
}

/** `NOT (column = ANY (values)) OR column IS NULL` excludes values; anything else is one of the alternatives. */
function anyOf(column: string, alternatives: readonly (readonly Condition[])[]): Condition {
  const [[excluding] = [], [missing] = []] = alternatives;
  const isMissing = missing?.kind === 'exists' && !missing.exists;
  if (alternatives.length === 2 && isMissing && excluding?.kind === 'negation') {
    const [equal, ...others] = excluding.of;
    if (equal?.kind === 'equal' && others.length === 0) {
      return { kind: 'not', column, values: equal.values };
    }
  }
  return { kind: 'any', of: alternatives };
}

function rawSql({ getSql, objectLiteralParameters = {}, value }: FindOperator<unknown>): OpaqueSql {
  return (column, values) =>
    getSql
      ? withParameters(getSql(column), objectLiteralParameters, values)
      : `${column} = ${String(value)}`;
}
