import { FindOperator, type FindOperatorType } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import {
  type ComparedValue,
  fittingComparison,
  isComparable,
  typeNameOf,
} from '../../resource/column-values.js';
import { alternativesOf } from './alternatives.js';
import type { Listing } from './listing.js';

/** A column and a value that a condition compares it with. */
interface Comparison extends ComparedValue {
  readonly column: ColumnMetadata;
}

/** The operators that compare a column with each value of a list. Any other compares it with the list. */
const SEVERAL: ReadonlySet<FindOperatorType> = new Set(['in', 'any', 'between', 'and', 'or']);

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
export function operandsOf(compared: unknown): ComparedValue[] {
  if (!(compared instanceof FindOperator)) return [{ value: compared }];
  const { type, child } = compared;
  if (child) return operandsOf(child);
  const value: unknown = compared.value;
  if (type === 'raw' || type === 'isNull' || type === 'jsonContains') return [];
  if (!Array.isArray(value)) return [{ value, isPattern: type === 'like' || type === 'ilike' }];
  return SEVERAL.has(type)
    ? value.flatMap(operandsOf)
    : value.map((item: unknown) => ({ value: item, isItem: true }));
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
    .filter(({ column, ...compared }) => !isComparable(column, compared))
    .map(({ column, ...compared }) => {
      const what = compared.isPattern ? 'a pattern of a text' : String(compared.value);
      return `the filter ${parameter} compares ${name}.${column.propertyName}, of type ${typeNameOf(column)}, with ${what}${fittingComparison(column, compared)}`;
    });
}
