import { type EntityMetadata, FindOperator, type ObjectLiteral } from 'typeorm';
import { countedOf } from '../../resource/resource.js';

/** Objects that are counted by themselves: those with one value in one column. */
export interface Facet {
  readonly column: string;
  readonly value: string;
}

/** The name of a facet in the tally; that of all objects is empty. */
export function facetName(facet: Facet | 'all'): string {
  return facet === 'all' ? '' : `${facet.column}=${facet.value}`;
}

/** The facet of a name. */
export function facetOf(name: string): Facet | 'all' {
  const equals = name.indexOf('=');
  return equals < 0 ? 'all' : { column: name.slice(0, equals), value: name.slice(equals + 1) };
}

/**
 * The facet whose objects are those that meet all of some conditions: `'all'` where there is none,
 * `undefined` where the tally does not know them.
 */
export function facetOfConditions(
  metadata: EntityMetadata,
  conditions: readonly ObjectLiteral[],
): Facet | 'all' | undefined {
  const [sole, ...others] = conditions.flatMap<[string, unknown]>((condition) =>
    Object.entries(condition),
  );
  if (!sole) return 'all';
  const [column, condition] = sole;
  const value = others.length === 0 ? soleValue(condition) : undefined;
  return value !== undefined && countedOf(metadata).includes(column)
    ? { column, value }
    : undefined;
}

/** The one value that meets a condition, if there is just one and it is told by equality. */
function soleValue(condition: unknown): string | undefined {
  if (condition instanceof FindOperator) {
    const values: unknown = condition.value;
    if (condition.type === 'any' || condition.type === 'in') {
      return Array.isArray(values) && values.length === 1 ? soleValue(values[0]) : undefined;
    }
    return condition.type === 'equal' ? soleValue(values) : undefined;
  }
  return ['string', 'number', 'boolean'].includes(typeof condition) ? String(condition) : undefined;
}
