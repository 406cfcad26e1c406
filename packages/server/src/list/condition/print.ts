import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ParameterValues } from '../../database/statement.js';
import { mayBeNaN, sqlTypeOf } from '../../resource/column-values.js';
import { columnOf } from '../../resource/resource.js';
import { scopeOf, UnknownClientError } from '../../resource/visibility.js';
import { valueOf } from '../../resource/selection.js';
import type { ColumnCondition, Comparison, Condition, IdentifierQuery } from './condition.js';
import { type SearchContext, searchSql } from './words.js';

/** What conditions are printed for. */
interface PrintContext extends SearchContext {
  readonly metadata: EntityMetadata;
}

export function sqlOf(condition: Condition, context: PrintContext): string {
  switch (condition.kind) {
    case 'any': {
      const alternatives = condition.of.map((each) =>
        each.length === 0 ? 'true' : each.map((one) => sqlOf(one, context)).join(' AND '),
      );
      return `(${alternatives.join(' OR ')})`;
    }
    case 'negation':
      return `NOT (${condition.of.map((each) => sqlOf(each, context)).join(' AND ')})`;
    default:
      return ofColumn(condition, context);
  }
}

function ofColumn(condition: ColumnCondition, context: PrintContext): string {
  const { metadata, values, table = 'object' } = context;
  const column = columnOf(metadata, condition.column);
  const reference = valueOf(column, table);
  switch (condition.kind) {
    case 'words':
      return searchSql(condition.search, reference, context);
    case 'identifiers':
      return `${reference} IN (${identifiersText(condition.query, values)})`;
    case 'sql':
      // An OR in it must not reach over other conditions.
      return `(${condition.sql(reference, values, table)})`;
    default:
      return compared(withoutNaN(condition, column), reference, (value, list) =>
        // PostgreSQL knows the type of the column, but not that of a subquery.
        values.isPlannedOnce
          ? values.addTyped(value, `${sqlTypeOf(column)}${list ? '[]' : ''}`)
          : values.add(value),
      );
  }
}

/** Filters by bounds leave NaN out, which PostgreSQL takes for the greatest number. */
function withoutNaN(condition: Comparison, column: ColumnMetadata): Comparison {
  if (condition.kind !== 'interval' || condition.upper || !mayBeNaN(column)) return condition;
  return { ...condition, upper: { value: 'NaN', inclusive: false } };
}

/**
 * The text of a query for identifiers.
 *
 * @throws TypeError if it is not known what a client sees of a resource with a scope
 */
export function identifiersText(
  { metadata, text, visible }: IdentifierQuery,
  values: ParameterValues,
): string {
  if (!visible && scopeOf(metadata)) throw new UnknownClientError(metadata.name);
  return text(values, (table) =>
    sqlEach(visible ?? [], { metadata, values, table })
      .map((each) => ` AND ${each}`)
      .join(''),
  );
}

/** @param parameter adds a value, or a list of values */
function compared(
  condition: Comparison,
  reference: string,
  parameter: (value: unknown, list?: boolean) => string,
): string {
  switch (condition.kind) {
    case 'equal': {
      const { values } = condition;
      // From an equality, the planner learns that an index by the column is in the order of the identifier.
      return values.length === 1
        ? `${reference} = ${parameter(values[0])}`
        : `${reference} = ANY(${parameter(values, true)})`;
    }
    case 'not':
      return `(NOT (${reference} = ANY(${parameter(condition.values, true)})) OR ${reference} IS NULL)`;
    case 'exists':
      return `${reference} IS ${condition.exists ? 'NOT NULL' : 'NULL'}`;
    case 'filled':
      return `coalesce(cardinality(${reference}), 0) ${condition.isFilled ? '>' : '='} 0`;
    case 'lacks':
      return `(NOT (${reference} && ${parameter(condition.items)}) OR ${reference} IS NULL)`;
    case 'interval': {
      const { lower, upper } = condition;
      const bounds = [];
      if (lower) bounds.push(`${lower.inclusive ? '>=' : '>'} ${parameter(lower.value)}`);
      if (upper) bounds.push(`${upper.inclusive ? '<=' : '<'} ${parameter(upper.value)}`);
      return bounds.map((bound) => `${reference} ${bound}`).join(' AND ');
    }
    case 'comparison': {
      const { operator, value } = condition;
      const isJson = operator === '::jsonb @>' && typeof value === 'object';
      return `${reference} ${operator} ${parameter(isJson ? JSON.stringify(value) : value)}`;
    }
  }
}

export function sqlEach(conditions: readonly Condition[], context: PrintContext): string[] {
  return conditions.map((condition) => sqlOf(condition, context));
}

/** Conditions in SQL, combined with AND behind `WHERE`; empty without any. */
export function whereOf(conditions: readonly Condition[], context: PrintContext): string {
  return and('', ...sqlEach(conditions, context));
}

/** Adds conditions to a WHERE clause, which may be empty. */
export function and(where: string, ...conditions: string[]): string {
  if (conditions.length === 0) return where;
  return `${where === '' ? 'WHERE' : `${where} AND`} ${conditions.join(' AND ')}`;
}
