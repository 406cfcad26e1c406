import type { EntityMetadata } from 'typeorm';
import { sqlTypeOf } from '../resource/column-values.js';
import { isOwn } from '../resource/resource.js';
import { areEqualities, type Criteria } from './criteria.js';
import type { MatchingObjects } from './matching-objects.js';
import type { PageRequest } from './page-statement.js';
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
  const { where, split, criteria } = matching;
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
  const leads = (column: string, operator: string): boolean =>
    column === first?.field || (others.length === 0 && operator === '=');
  const found = withSubqueries(metadata, where, () => true);
  const inOrder = withSubqueries(metadata, where, leads);
  return found === undefined ? undefined : { ...matching, where: found, inOrder, split: undefined };
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

/** A comparison of a column, or what a search compares. */
const COMPARED =
  /"object"\."([^"]+)" (=|>=|<=|>|<) (?:ANY\((\$\d+)\)|(\$\d+)\b)|("object"\."[^"]+" @@ )(search_query\(CAST\(\$\d+ AS text\), CAST\(\$\d+ AS text\[\]\), in_title => false\))|= (CAST\(\$\d+ AS \w+\))/g;

/**
 * Conditions with their values in subqueries; `undefined` if one has a value elsewhere.
 *
 * @param isIndexed whether an index may find the objects by a comparison. For any other, PostgreSQL has none.
 */
function withSubqueries(
  metadata: EntityMetadata,
  where: string,
  isIndexed: (column: string, operator: string) => boolean,
): string | undefined {
  const rest = where.replace(COMPARED, '');
  if (/\$\d/.test(rest)) return undefined;
  return where.replace(COMPARED, (text: string, ...found: (string | undefined)[]) => {
    const [name = '', operator = '', several, one = '', words, query = '', cast] = found;
    if (words !== undefined) {
      const contains = `${words}(SELECT ${query})`;
      return isIndexed('', operator) ? contains : `(${contains}) IS TRUE`;
    }
    if (cast !== undefined) return `= (SELECT ${cast})`;
    const column = metadata.columns.find(({ databaseName }) => databaseName === name);
    if (!column) return text;
    const type = sqlTypeOf(column);
    const [value, comparison] =
      several === undefined
        ? [`(SELECT ${one}::${type})`, operator]
        : [`ANY((SELECT ${several}::${type}[])::${type}[])`, 'ANY'];
    const compared = `"object"."${name}" ${operator} ${value}`;
    return isIndexed(column.propertyName, comparison) ? compared : `(${compared}) IS TRUE`;
  });
}
