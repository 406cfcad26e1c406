import { FindOperator, type ObjectLiteral, Raw } from 'typeorm';
import { alternativesOf } from './alternatives.js';

/** The identifiers of a resource's objects, which a condition compares a column with. */
export interface LookUp {
  readonly resource: string;
  /** Columns of the resource that the query compares with values, by an index at best. */
  readonly columns: readonly string[];
  /**
   * Selects the identifiers.
   *
   * @param values an SQL expression for each of `values`
   */
  readonly query: (values: readonly string[]) => string;
  readonly values: readonly unknown[];
}

const LOOK_UPS = new WeakMap<FindOperator<unknown>, LookUp>();

/** The condition that a column has one of the identifiers of a look-up. */
export function isLookedUp(lookUp: LookUp): FindOperator<never> {
  const names = lookUp.values.map((_, at) => `value${at}`);
  const query = lookUp.query(names.map((name) => `:${name}`));
  const condition = Raw(
    (column) => `${column} IN (${query})`,
    Object.fromEntries(names.map((name, at) => [name, lookUp.values[at]])),
  ) as FindOperator<never>;
  LOOK_UPS.set(condition, lookUp);
  return condition;
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
  return conditions.map((condition) =>
    Array.isArray(condition) ? (condition as ObjectLiteral[]).map(replaced) : replaced(condition),
  );
}
