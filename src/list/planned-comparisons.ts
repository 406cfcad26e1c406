import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../database/statement.js';
import { carriedColumnsOf } from '../resource/carried-columns.js';
import { sqlTypeOf } from '../resource/column-values.js';
import { columnOf } from '../resource/resource.js';
import { searchedFor } from './contains-words.js';
import type { Criteria, Interval } from './criteria.js';
import { and } from './picked-objects.js';

/** A condition that an index may find objects by. */
export interface Comparison {
  readonly column: string;
  readonly isEquality: boolean;
  readonly sql: string;
}

/** Equalities, bounds and a search on `object`; `undefined` if one is of a computed field. */
export function comparisonsOf(
  metadata: EntityMetadata,
  { equal, intervals, search }: Criteria,
  values: ParameterValues,
): Comparison[] | undefined {
  const columns = [...equal.keys(), ...intervals.map(({ column }) => column)];
  if (columns.some((name) => columnOf(metadata, name).isVirtualProperty)) return undefined;
  const reference = (name: string): string => `object."${columnOf(metadata, name).databaseName}"`;
  const typeOf = (name: string): string => sqlTypeOf(columnOf(metadata, name));
  const equalities = [...equal].map(([column, allowed]): Comparison => {
    const isEquality = allowed.length === 1;
    const value = isEquality
      ? values.addTyped(allowed[0], typeOf(column))
      : `ANY(${values.addTyped(allowed, `${typeOf(column)}[]`)})`;
    return { column, isEquality, sql: `${reference(column)} = ${value}` };
  });
  const bounds = intervals.flatMap((interval) => {
    const { column } = interval;
    const compared = comparedWith(interval, reference(column), (bound) =>
      values.addTyped(bound, typeOf(column)),
    );
    return (compared.length > 0 ? compared : [`${reference(column)} IS NOT NULL`]).map(
      (sql): Comparison => ({ column, isEquality: false, sql }),
    );
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

/** The comparisons of something in SQL with the bounds of an interval. */
function comparedWith(
  { lower, upper }: Interval,
  compared: string,
  parameter: (value: unknown) => string,
): string[] {
  return [
    ...(lower ? [`${compared} ${lower.inclusive ? '>=' : '>'} ${parameter(lower.value)}`] : []),
    ...(upper ? [`${compared} ${upper.inclusive ? '<=' : '<'} ${parameter(upper.value)}`] : []),
  ];
}

/**
 * Comparisons behind `WHERE`.
 *
 * @param isIndexed whether an index may find objects by a comparison. As `(…) IS TRUE` there is none for it.
 */
export function conditionsBy(
  comparisons: readonly Comparison[],
  isIndexed: (comparison: Comparison) => boolean,
): string {
  return and(
    '',
    ...comparisons.map((each) => (isIndexed(each) ? each.sql : `(${each.sql}) IS TRUE`)),
  );
}

/** Whether the index that begins with a column carries that of a comparison. */
export function isCarriedBy(
  metadata: EntityMetadata,
  first: string,
): (comparison: Pick<Comparison, 'column'>) => boolean {
  const carried = carriedColumnsOf(metadata, first);
  return ({ column }) => carried.includes(columnOf(metadata, column).databaseName);
}
