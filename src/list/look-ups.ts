import {
  type EntityMetadata,
  FindOperator,
  type ObjectLiteral,
  type ObjectType,
  Raw,
} from 'typeorm';
import { scopeOf } from '../resource/scope.js';
import { alternativesOf, mapAlternatives } from './alternatives.js';
import { NamedParameters } from './named-parameters.js';

/** The identifiers of a resource's objects, which a condition compares a column with. */
export interface LookUp {
  readonly resource: string;
  readonly entity: ObjectType<unknown>;
  /** Columns of the resource that the query compares with values, by an index at best. */
  readonly columns: readonly string[];
  /**
   * Selects the identifiers.
   *
   * @param values an SQL expression for each of `values`
   * @param visible the end of a WHERE clause, for a table of the resource by its name: it is visible
   */
  readonly query: (values: readonly string[], visible: (table: string) => string) => string;
  readonly values: readonly unknown[];
  /** Absent: every object of the resource is visible. */
  readonly visible?: VisibleObjects;
}

/** The objects of a resource that a client sees. */
export interface VisibleObjects {
  readonly metadata: EntityMetadata;
  readonly conditions: readonly ObjectLiteral[];
  /** The conditions in SQL on a table. */
  readonly in: (table: string, parameter: (value: unknown) => string) => readonly string[];
}

const LOOK_UPS = new WeakMap<FindOperator<unknown>, LookUp>();

/** The condition that a column has one of the identifiers of a look-up. */
export function isLookedUp(lookUp: LookUp): FindOperator<never> {
  const { entity, visible } = lookUp;
  const values = new NamedParameters();
  const query = lookUpQuery(lookUp, (value) => values.add(value));
  const condition = Raw((column) => {
    // As part of another condition, it would not be replaced by one for the client.
    if (!visible && scopeOf({ target: entity })) {
      throw new TypeError(`A look-up of ${entity.name} must be the whole condition on its column`);
    }
    return `${column} IN (${query})`;
  }, values.values) as FindOperator<never>;
  LOOK_UPS.set(condition, lookUp);
  return condition;
}

/**
 * The query of a look-up.
 *
 * @param parameter adds a parameter with a value
 */
export function lookUpQuery(
  { query, values, visible }: LookUp,
  parameter: (value: unknown) => string,
): string {
  return query(values.map(parameter), (table) =>
    (visible?.in(table, parameter) ?? []).map((condition) => ` AND ${condition}`).join(''),
  );
}

/** The look-up of a condition of `isLookedUp`; `undefined` for any other condition. */
export function lookUpOf(condition: unknown): LookUp | undefined {
  return condition instanceof FindOperator ? LOOK_UPS.get(condition) : undefined;
}

/** The look-ups among conditions. */
export function lookUpsIn(conditions: readonly ObjectLiteral[]): LookUp[] {
  return conditions
    .flatMap(alternativesOf)
    .flatMap((condition) => Object.values(condition) as unknown[])
    .flatMap((condition) => lookUpOf(condition) ?? []);
}

/**
 * Replaces the look-ups among conditions by other conditions.
 *
 * @param replacements in the order of `lookUpsIn`; `undefined` leaves a look-up as it is
 */
export function replaceLookUps(
  conditions: readonly ObjectLiteral[],
  replacements: readonly unknown[],
): ObjectLiteral[] {
  const left = [...replacements];
  const replaced = (condition: ObjectLiteral): ObjectLiteral =>
    Object.fromEntries(
      Object.entries(condition).map(([column, value]: [string, unknown]) => [
        column,
        lookUpOf(value) ? (left.shift() ?? value) : value,
      ]),
    );
  return conditions.map((condition) => mapAlternatives(condition, replaced));
}
