import { type EntityMetadata, FindOperator, type ObjectLiteral } from 'typeorm';
import { countedColumnsOf } from '../../resource/resource.js';

/** The objects with one value in one counted column. The tally counts them. */
export interface Facet {
  readonly column: string;
  readonly value: string;
}

/** The name of a facet in the tally; empty for all objects. */
export function facetName(facet: Facet | 'all'): string {
  return facet === 'all' ? '' : `${facet.column}=${facet.value}`;
}

/** The facet with a name; the inverse of `facetName`. */
export function facetOf(name: string): Facet | 'all' {
  const equals = name.indexOf('=');
  return equals < 0 ? 'all' : { column: name.slice(0, equals), value: name.slice(equals + 1) };
}

/**
 * The facet that consists of the objects that meet all conditions: `'all'` if there are no conditions,
 * `undefined` if the tally has no such facet.
 */
export function facetOfConditions(
  metadata: EntityMetadata,
  conditions: readonly ObjectLiteral[],
): Facet | 'all' | undefined {
  const [only, ...others] = conditions.flatMap<[string, unknown]>((condition) =>
    Object.entries(condition),
  );
  if (!only) return 'all';
  const [column, condition] = only;
  const value = others.length === 0 ? onlyValue(condition) : undefined;
  return value !== undefined &&
    countedColumnsOf(metadata).some(([name, ...more]) => name === column && more.length === 0)
    ? { column, value }
    : undefined;
}

/** The value that a condition compares with, if it is an equality with exactly one value. */
function onlyValue(condition: unknown): string | undefined {
  if (condition instanceof FindOperator) {
    const values: unknown = condition.value;
    if (condition.type === 'any' || condition.type === 'in') {
      return Array.isArray(values) && values.length === 1 ? onlyValue(values[0]) : undefined;
    }
    return condition.type === 'equal' ? onlyValue(values) : undefined;
  }
  return ['string', 'number', 'boolean'].includes(typeof condition) ? String(condition) : undefined;
}
