import type { EntityMetadata } from 'typeorm';
import { ParameterValues } from '../database/statement.js';
import { sqlTypeOf } from '../resource/column-values.js';
import { columnOf, isOwn } from '../resource/resource.js';
import { searchedFor } from './contains-words.js';
import { areEqualities, type Criteria } from './criteria.js';
import type { MatchingObjects } from './matching-objects.js';
import type { PageRequest } from './page-statement.js';
import { and } from './picked-objects.js';
import { isBroad } from './tally/tally.js';

/**
 * The objects of a list with the values of its conditions in subqueries, so that one plan is as good as one for
 * the values, and PostgreSQL may keep it; `undefined` if the best plan depends on the values. It does so if the
 * conditions leave a choice of indexes to find the objects: of two values, or of a value and a range, the rarer
 * one has to lead. Of a table of others, the types of the columns are not known by name.
 */
export function plannedOnce(
  metadata: EntityMetadata,
  matching: MatchingObjects,
  { order, offset }: Pick<PageRequest, 'order' | 'offset'>,
): MatchingObjects | undefined {
  const { split, criteria } = matching;
  if (!isOwn(metadata) || !criteria) return undefined;
  const isWithin = offset === 0 && order.length === 1 && isSearchWithinValue(criteria);
  if (!isWithin && (split || !hasOneWay(metadata, criteria))) return undefined;
  // From the place of the tally on, objects with one of several rare values may be far apart.
  if (offset > 0 && [...criteria.equal.values()].some(({ length }) => length > 1)) return undefined;
  const [first, ...others] = order;
  // Most of the time goes to the objects before the place, which a plan for the values reads faster.
  if (offset > 0 && criteria.intervals.some(({ column }) => column !== first?.field)) {
    return undefined;
  }
  const values = new ParameterValues([], true);
  const comparisons = comparisonsOf(metadata, criteria, values);
  if (!comparisons) return undefined;
  const isInOrder = ({ column, isEquality }: Comparison): boolean =>
    column === first?.field || (others.length === 0 && isEquality);
  const every = comparisons.map(({ sql }) => sql);
  const inOrder = comparisons.map((each) => (isInOrder(each) ? each.sql : `(${each.sql}) IS TRUE`));
  return {
    ...matching,
    where: and('', ...every),
    inOrder: and('', ...inOrder),
    values: values.values,
    split: undefined,
  };
}

/**
 * Whether the conditions search for words among the objects with one value of a column. The statement decides
 * whether to find the words first, or to read the objects with the value in their order.
 */
function isSearchWithinValue(criteria: Criteria): boolean {
  const { search, equal } = criteria;
  const [values] = equal.values();
  const isOneValue = equal.size === 1 && values?.length === 1;
  return isOneValue && !!search && areEqualities({ ...criteria, search: undefined });
}

/** Whether the conditions have at most one part by which an index finds few objects. */
function hasOneWay(metadata: EntityMetadata, criteria: Criteria): boolean {
  const { equal, intervals, search } = criteria;
  if (areEqualities(criteria)) {
    return [...equal.keys()].filter((name) => !isBroad(metadata, name)).length <= 1;
  }
  const isAlone = equal.size + criteria.missing.length + criteria.excluded.size === 0;
  return isAlone && intervals.length + (search ? 1 : 0) === 1;
}

/** A condition that an index may find objects by. As `(…) IS TRUE` there is none for it. */
interface Comparison {
  readonly column: string;
  readonly isEquality: boolean;
  readonly sql: string;
}

/** Equalities, bounds and a search on `object`; `undefined` if one is of a computed field. */
function comparisonsOf(
  metadata: EntityMetadata,
  { equal, intervals, search }: Criteria,
  values: ParameterValues,
): Comparison[] | undefined {
  const columns = [...equal.keys(), ...intervals.map(({ column }) => column)];
  if (columns.some((name) => columnOf(metadata, name).isVirtualProperty)) return undefined;
  const reference = (name: string): string => `object."${columnOf(metadata, name).databaseName}"`;
  const typeOf = (name: string): string => sqlTypeOf(columnOf(metadata, name));
  const equalities = [...equal].map(([column, allowed]): Comparison => {
    const isEquality = allowed.length === 1;
    const value = isEquality
      ? values.addTyped(allowed[0], typeOf(column))
      : `ANY(${values.addTyped(allowed, `${typeOf(column)}[]`)})`;
    return { column, isEquality, sql: `${reference(column)} = ${value}` };
  });
  const bounds = intervals.flatMap(({ column, lower, upper }) => {
    const compared = [
      ...(lower
        ? [`${lower.inclusive ? '>=' : '>'} ${values.addTyped(lower.value, typeOf(column))}`]
        : []),
      ...(upper
        ? [`${upper.inclusive ? '<=' : '<'} ${values.addTyped(upper.value, typeOf(column))}`]
        : []),
    ];
    return (compared.length > 0 ? compared : ['IS NOT NULL']).map((each): Comparison => ({
      column,
      isEquality: false,
      sql: `${reference(column)} ${each}`,
    }));
  });
  const searches = search
    ? [
        {
          column: search.column,
          isEquality: false,
          sql: searchedFor(search, reference(search.column), values),
        },
      ]
    : [];
  return [...equalities, ...bounds, ...searches];
}
