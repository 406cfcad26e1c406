import {
  type EntityMetadata,
  FindOperator,
  type ObjectLiteral,
  type ObjectType,
  Raw,
} from 'typeorm';
import type { ParameterSink } from '../../database/statement.js';
import { scopeOf } from '../../resource/scope.js';
import { alternativesOf, mapCompared } from './alternatives.js';
import { NamedParameters } from './named-parameters.js';

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
  /** Absent: every object of the resource is visible. */
  readonly visible?: Visibility;
}

/** The objects of a resource that a client sees. */
export interface Visibility {
  readonly metadata: EntityMetadata;
  readonly conditions: readonly ObjectLiteral[];
  /** The conditions in SQL on a table. */
  readonly in: (table: string, parameters: ParameterSink) => readonly string[];
}

const QUERIES = new WeakMap<FindOperator<unknown>, IdentifierQuery>();

/** The condition that a column has one of the identifiers of a query. */
export function isOneOf(query: IdentifierQuery): FindOperator<never> {
  const { entity, visible } = query;
  const values = new NamedParameters();
  const text = queryText(query, values);
  const condition = Raw((column) => {
    // As part of another condition, it would not be replaced by one for the client.
    if (!visible && scopeOf({ target: entity })) {
      throw new TypeError(
        `An identifier query of ${entity.name} must be the whole condition on its column`,
      );
    }
    return `${column} IN (${text})`;
  }, values.values) as FindOperator<never>;
  QUERIES.set(condition, query);
  return condition;
}

/** The text of a query. */
export function queryText(
  { text, values, visible }: IdentifierQuery,
  parameters: ParameterSink,
): string {
  const added = values.map((value) => parameters.add(value));
  return text(added, (table) =>
    (visible?.in(table, parameters) ?? []).map((condition) => ` AND ${condition}`).join(''),
  );
}

/** The query of a condition of `isOneOf`; `undefined` for any other condition. */
export function identifierQueryOf(condition: unknown): IdentifierQuery | undefined {
  return condition instanceof FindOperator ? QUERIES.get(condition) : undefined;
}

/** The queries in conditions. */
export function identifierQueriesIn(conditions: readonly ObjectLiteral[]): IdentifierQuery[] {
  return conditions
    .flatMap(alternativesOf)
    .flatMap((condition) => Object.values(condition) as unknown[])
    .flatMap((condition) => identifierQueryOf(condition) ?? []);
}

/**
 * Replaces the conditions of `isOneOf` among conditions by others.
 *
 * @param replacements in the order of `identifierQueriesIn`; `undefined` leaves one as it is
 */
export function replaceIdentifierQueries(
  conditions: readonly ObjectLiteral[],
  replacements: readonly unknown[],
): ObjectLiteral[] {
  const left = [...replacements];
  const replaced = (compared: unknown): unknown =>
    identifierQueryOf(compared) ? (left.shift() ?? compared) : compared;
  return conditions.map((condition) => mapCompared(condition, replaced));
}
