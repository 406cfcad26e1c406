import type { ObjectLiteral } from 'typeorm';

/**
 * The alternatives of a condition, combined with OR. A condition is an object with an entry for each
 * column, combined with AND, or an array of such objects.
 */
export function alternativesOf(condition: ObjectLiteral): readonly ObjectLiteral[] {
  return Array.isArray(condition) ? (condition as ObjectLiteral[]) : [condition];
}

/** A condition with each of its alternatives replaced. */
export function mapAlternatives(
  condition: ObjectLiteral,
  replace: (alternative: ObjectLiteral) => ObjectLiteral,
): ObjectLiteral {
  return Array.isArray(condition)
    ? (condition as ObjectLiteral[]).map(replace)
    : replace(condition);
}

/** A condition with what each of its columns is compared with replaced. */
export function mapCompared(
  condition: ObjectLiteral,
  replace: (compared: unknown) => unknown,
): ObjectLiteral {
  return mapAlternatives(condition, (alternative) =>
    Object.fromEntries(
      Object.entries(alternative).map(([column, compared]: [string, unknown]) => [
        column,
        replace(compared),
      ]),
    ),
  );
}
