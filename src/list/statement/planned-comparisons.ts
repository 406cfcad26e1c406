import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../../database/statement.js';
import { carriedColumnsOf } from '../../resource/carried-columns.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { columnOf } from '../../resource/resource.js';
import { searchedFor } from '../listing/contains-words.js';
import type { Criteria } from './criteria.js';
import { and } from '../listing/where.js';

/** A condition that an index may find objects by. */
export interface PlannedComparison {
  readonly column: string;
  readonly isEquality: boolean;
  readonly sql: string;
}

/** Equalities, bounds and a search on `object`; `undefined` if one is of a computed field. */
export function comparisonsOf(
  metadata: EntityMetadata,
  { equal, intervals, search }: Criteria,
  values: ParameterValues,
): PlannedComparison[] | undefined {
  const columns = [...equal.keys(), ...intervals.map(({ column }) => column)];
  if (columns.some((name) => columnOf(metadata, name).isVirtualProperty)) return undefined;
  const reference = (name: string): string => `object."${columnOf(metadata, name).databaseName}"`;
  const typeOf = (name: string): string => sqlTypeOf(columnOf(metadata, name));
  const equalities = [...equal].map(([column, allowed]): PlannedComparison => {
    const isEquality = allowed.length === 1;
    const value = isEquality
      ? values.addTyped(allowed[0], typeOf(column))
      : `ANY(${values.addTyped(allowed, `${typeOf(column)}[]`)})`;
    return { column, isEquality, sql: `${reference(column)} = ${value}` };
  });
  const bounds = intervals.flatMap(({ column, lower, upper }) => {
    const compared = [
      ...(lower
        ? [`${lower.inclusive ? '>=' : '>'} ${values.addTyped(lower.value, typeOf(column))}`]
        : []),
      ...(upper
        ? [`${upper.inclusive ? '<=' : '<'} ${values.addTyped(upper.value, typeOf(column))}`]
        : []),
    ];
    return (compared.length > 0 ? compared : ['IS NOT NULL']).map((each): PlannedComparison => ({
      column,
      isEquality: false,
      sql: `${reference(column)} ${each}`,
    }));
  });
  const searches = search
    ? [
        {
          column: search.column,
          isEquality: false,
          sql: searchedFor(search, reference(search.column), values),
        },
      ]
    : [];
  return [...equalities, ...bounds, ...searches];
}

/**
 * Comparisons behind `WHERE`.
 *
 * @param isIndexed whether an index may find objects by a comparison. PostgreSQL uses none for `(…) IS TRUE`.
 */
export function conditionsBy(
  comparisons: readonly PlannedComparison[],
  isIndexed: (comparison: PlannedComparison) => boolean,
): string {
  return and(
    '',
    ...comparisons.map((each) => (isIndexed(each) ? each.sql : `(${each.sql}) IS TRUE`)),
  );
}

/** Whether the index that begins with a column carries another one. */
export function isCarriedBy(metadata: EntityMetadata, first: string): (column: string) => boolean {
  const carried = carriedColumnsOf(metadata, first);
  return (column) => carried.includes(columnOf(metadata, column).databaseName);
}
