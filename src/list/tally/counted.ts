import { type EntityMetadata, FindOperator, type ObjectLiteral } from 'typeorm';
import { countedOf } from '../../resource/resource.js';
import { type Facet, tallyTables } from './tally.js';

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

/** The SQL expression of how many objects a facet has, given the parameter that holds its name. */
export function countOf(metadata: EntityMetadata, parameter: string): string {
  const { tally, deltas } = tallyTables(metadata);
  const [tallied, since] = [tally, deltas].map(
    (table) => `(SELECT coalesce(sum(count), 0) FROM ${table} WHERE facet = ${parameter})`,
  );
  return `(${tallied} + ${since})::text`;
}
