import type { ObjectLiteral } from 'typeorm';

/**
 * The alternatives of a condition, combined with OR. A condition is an object with an entry for each
 * column, combined with AND, or an array of such objects.
 */
export function alternativesOf(condition: ObjectLiteral): readonly ObjectLiteral[] {
  return Array.isArray(condition) ? (condition as ObjectLiteral[]) : [condition];
}
