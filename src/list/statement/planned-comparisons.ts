import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../../database/statement.js';
import { carriedColumnsOf } from '../../resource/carried-columns.js';
import { columnOf } from '../../resource/resource.js';
import type { ColumnCondition, Condition } from '../condition/condition.js';
import { and, sqlOf } from '../condition/print.js';

/** A condition that an index may find objects by. */
export interface PlannedComparison {
  readonly column: string;
  readonly isEquality: boolean;
  readonly sql: string;
}

/** Conditions that say no more than criteria can, in SQL on `object`; `undefined` if one is of a computed field. */
export function comparisonsOf(
  metadata: EntityMetadata,
  conditions: readonly Condition[],
  values: ParameterValues,
): PlannedComparison[] | undefined {
  const single = conditions.filter((each): each is ColumnCondition => !('of' in each));
  if (single.some(({ column }) => columnOf(metadata, column).isVirtualProperty)) return undefined;
  return single.map((condition) => ({
    column: condition.column,
    isEquality: condition.kind === 'equal' && condition.values.length === 1,
    sql: sqlOf(condition, { metadata, values }),
  }));
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
  return (column) => carried.includes(column);
}
