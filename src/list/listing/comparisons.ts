import { FindOperator } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { fittingDecorators, isComparable, typeNameOf } from '../../resource/column-values.js';
import { alternativesOf } from './alternatives.js';
import type { Listing } from './listing.js';

/** A column and a value that a condition compares it with. */
interface Comparison {
  readonly column: ColumnMetadata;
  readonly value: unknown;
  /** Whether the value is a pattern of a text. */
  readonly isPattern: boolean;
}

/** The comparisons in the filters of a list. SQL, identifier queries and values within JSON are left out. */
export function comparisonsIn({ repository, filters }: Listing): Comparison[] {
  return filters.flatMap(alternativesOf).flatMap((condition) =>
    Object.entries(condition).flatMap(([name, compared]: [string, unknown]) => {
      const column = repository.metadata.findColumnWithPropertyName(name);
      return column ? operandsOf(compared).map((operand) => ({ column, ...operand })) : [];
    }),
  );
}

/** The values that a condition compares a column with, also within operators. SQL has none. */
export function operandsOf(compared: unknown): Omit<Comparison, 'column'>[] {
  if (!(compared instanceof FindOperator)) return [{ value: compared, isPattern: false }];
  const { type, child } = compared;
  if (child) return operandsOf(child);
  const value: unknown = compared.value;
  if (type === 'raw' || type === 'isNull' || type === 'jsonContains') return [];
  if (Array.isArray(value)) return value.flatMap(operandsOf);
  return [{ value, isPattern: type === 'like' || type === 'ilike' }];
}

/**
 * What a list compares with values that the type of the column does not have, as lines: PostgreSQL refuses the
 * statement, or finds other objects than those that the client asks for.
 *
 * @param parameter the filter that it has
 */
export function misfitsOf(list: Listing, parameter: string): string[] {
  const { name } = list.repository.metadata;
  return comparisonsIn(list)
    .filter(({ column, value, isPattern }) => !isComparable(column, value, isPattern))
    .map(({ column, value, isPattern }) => {
      const decorators = fittingDecorators(column).map((each) => `@${each}`);
      const what = isPattern
        ? 'a pattern of a text'
        : `${String(value)}: ${decorators.join(' or ')} fits`;
      return `the filter ${parameter} compares ${name}.${column.propertyName}, of type ${typeNameOf(column)}, with ${what}`;
    });
}
