import type { EntityMetadata, ObjectType } from 'typeorm';
import { columnConditions, type Condition, replaceIn } from './condition.js';

/** A query for identifiers of a resource's objects, with which a condition compares a column. */
export interface IdentifierQuery {
  readonly resource: string;
  readonly entity: ObjectType<unknown>;
  /** Columns of the resource that the query compares with values, by an index at best. */
  readonly columns: readonly string[];
  /**
   * Its text, which selects the identifiers.
   *
   * @param values an SQL expression for each of `values`
   * @param visible the end of a WHERE clause, for a table of the resource by its name: it is visible
   */
  readonly text: (values: readonly string[], visible: (table: string) => string) => string;
  readonly values: readonly unknown[];
  /** What a client sees of the resource. Absent before `Listing.seenBy`, or if every object is visible. */
  readonly visible?: {
    readonly metadata: EntityMetadata;
    readonly conditions: readonly Condition[];
  };
}

/** Conditions with no identifiers in place of queries. */
export function withoutQueries(conditions: readonly Condition[]): Condition[] {
  return replaceIn(conditions, (condition) =>
    condition.kind === 'identifiers'
      ? { kind: 'equal', column: condition.column, values: [] }
      : condition,
  );
}

/** The queries in conditions. */
export function identifierQueriesIn(conditions: readonly Condition[]): IdentifierQuery[] {
  return columnConditions(conditions).flatMap((each) =>
    each.kind === 'identifiers' ? [each.query] : [],
  );
}
