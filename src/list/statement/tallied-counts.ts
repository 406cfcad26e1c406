import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { declaredColumns } from '../../resource/declaration.js';
import { columnOf, singleCountedColumnsOf } from '../../resource/resource.js';
import type { Bound } from '../condition/condition.js';
import { and } from '../condition/print.js';
import { onlyNamed } from '../condition/words.js';
import { EVERY_OBJECT, type Facet, facetNames, namesOf } from '../../tally/facet.js';
import { type TalliedObjects, TallyPositions } from '../../tally/position.js';
import {
  countOf,
  countOfColumn,
  countWhere,
  facetColumnsOf,
  identifierOrder,
  itemFacetColumnsOf,
  sortedOrder,
} from '../../tally/tally.js';
import { itemTallyOf, wordCountOf, wordTallyOf } from '../../tally/word-tally.js';
import {
  areEqualities,
  type Criteria,
  facetsOf,
  type Interval,
  isBounded,
  type Item,
  onlyInterval,
} from './criteria.js';
import type { Picking } from './picked-objects.js';

/** A number of objects in SQL. */
export interface Counted {
  /** Common table expressions that `total` refers to. */
  readonly tables: readonly string[];
  readonly total: string;
}

/** The objects of a list, and the parameters of its statement. */
type Tallied = Pick<Picking, 'metadata' | 'facets' | 'criteria' | 'where' | 'values'>;

/** The number of matching objects; `undefined` if the tally does not always know it. */
export function talliedCount(list: Omit<Tallied, 'where'>): Counted | undefined {
  const { metadata, facets, criteria, values } = list;
  if (!criteria) return undefined;
  if (facets) return total(countOfFacets(metadata, facets, values));
  if (criteria.item) return total(countByItem(metadata, criteria.item, criteria, values));
  const interval = onlyInterval(criteria);
  if (!interval) return total(remainder(metadata, criteria, values));
  if (!isBounded(interval)) return total(valuedCount(metadata, interval.column, criteria, values));
  const objects = sortedObjects(metadata, interval.column, criteria);
  return objects && !objects.isNarrow ? countedBetween(interval, objects, values) : undefined;
}

/**
 * The number of matching objects, or null if the tally does not know it, or has so few objects of the facets that the
 * matching ones are better counted one by one (`TallyPositions.spansMore`); `undefined` if it never knows it.
 */
export function countIfTallied(list: Tallied): Counted | undefined {
  const { metadata, criteria, values } = list;
  const interval = criteria && onlyInterval(criteria);
  if (!interval) return total(countByWord(list, false));
  const objects = sortedObjects(metadata, interval.column, criteria);
  if (!objects?.isNarrow || !isBounded(interval)) return undefined;
  const counted = countedBetween(interval, objects, values);
  const isRead = counted.positions.spansMore(countOfFacets(metadata, [EVERY_OBJECT], values));
  return { ...counted, total: `(CASE WHEN ${isRead} THEN NULL ELSE ${counted.total} END)` };
}

/** The number of matching objects by an index, unless the tally turns out to know it. */
export function countByIndex(list: Tallied): Counted {
  const byIndex = `(SELECT count(*) FROM object ${list.where})`;
  const tallied = countIfTallied(list);
  return tallied
    ? { ...tallied, total: `coalesce(${tallied.total}, ${byIndex})` }
    : { tables: [], total: byIndex };
}

/** An SQL expression for the number of objects of facets. */
export function countOfFacets(
  metadata: EntityMetadata,
  facets: readonly Facet[],
  values: ParameterValues,
): string {
  return countOf(identifierOrder(metadata), facetNames(facets, values));
}

function total(sql: string | undefined): Counted | undefined {
  return sql === undefined ? undefined : { tables: [], total: sql };
}

/**
 * An SQL expression for the number of objects that a list searches for, or null if the tally does not know
 * it; `undefined` if it never does.
 *
 * @param inTitle whether `where` searches only in titles
 */
export function countByWord(
  { metadata, criteria, where, values }: Omit<Tallied, 'facets'>,
  inTitle: boolean,
): string | undefined {
  if (!criteria?.search || !areEqualities({ ...criteria, search: undefined })) return undefined;
  const { equal, search } = criteria;
  const tally = wordTallyOf(metadata, search);
  if (!tally || equal.size > 1) return undefined;
  const facets = facetsOf(metadata, equal);
  if (!facets) return undefined;
  const count = wordCountOf(tally, search.words, inTitle, facets, values);
  const others = onlyNamed(search, inTitle, values);
  if (others === undefined) return count;
  return `${count} + (SELECT count(*) FROM object ${and(where, others)})`;
}

/**
 * An SQL expression for the number of objects with an item in an array; `undefined` if the tally does not know it beside
 * the rest of the criteria.
 */
function countByItem(
  metadata: EntityMetadata,
  { column, value }: Item,
  criteria: Criteria,
  values: ParameterValues,
): string | undefined {
  const tally = itemTallyOf(metadata, column);
  const { equal } = criteria;
  if (!tally || !areEqualities({ ...criteria, item: undefined })) return undefined;
  const facets = facetsOf(metadata, equal, itemFacetColumnsOf(metadata));
  if (!facets) return undefined;
  const [item, names] = [values.addTyped(value, 'text'), facetNames(facets, values)];
  return countWhere(tally, `word = ${item} AND facet = ANY(${names})`);
}

/** Objects whose ranges in the order of a column the tally knows. */
export interface SortedObjects extends TalliedObjects {
  /** Whether their facets are narrow: in the order they are far apart, so that no offset is found in it. */
  readonly isNarrow: boolean;
}

/** The objects with the values of criteria and a value in a column, if it has a tally. */
export function sortedObjects(
  metadata: EntityMetadata,
  name: string,
  { equal }: Criteria,
): SortedObjects | undefined {
  if (!declaredColumns(metadata).sorted.includes(name)) return undefined;
  const order = sortedOrder(metadata, columnOf(metadata, name));
  const facets = facetsOf(metadata, equal, facetColumnsOf(metadata, order));
  if (!facets) return undefined;
  const isNarrow = order.narrow.includes(namesOf(facets[0]?.columns ?? []));
  return { metadata, order, facets, isNarrow };
}

/** The number of objects in an interval, with their positions, and the table `outside`: how many are `below` it and `above`. */
export function countedBetween(
  { column, lower, upper }: Interval,
  objects: SortedObjects,
  values: ParameterValues,
): Counted & { readonly positions: TallyPositions } {
  const positions = new TallyPositions(objects, values);
  const type = sqlTypeOf(columnOf(objects.metadata, column));
  const bound = ({ value }: Bound): string => `(${values.addTyped(value, type)})`;
  const below = lower ? positions.below(bound(lower), !lower.inclusive) : '0';
  const above = upper
    ? `${positions.total} - ${positions.below(bound(upper), upper.inclusive)}`
    : '0';
  positions.tables.push(`outside AS MATERIALIZED (SELECT ${below} AS below, ${above} AS above)`);
  return {
    positions,
    tables: positions.tables,
    // If the lower bound is above the upper one, objects between them are outside twice.
    total: `(SELECT greatest(0, ${positions.total} - below - above) FROM outside)`,
  };
}

/**
 * An SQL expression for the number of objects with the values of criteria and a value in a column;
 * `undefined` if the tally does not know it.
 */
function valuedCount(
  metadata: EntityMetadata,
  name: string,
  criteria: Criteria,
  values: ParameterValues,
): string | undefined {
  const sorted = sortedObjects(metadata, name, criteria);
  if (sorted) return countOf(sorted.order, facetNames(sorted.facets, values));
  if (criteria.equal.size > 0 || !singleCountedColumnsOf(metadata).includes(name)) return undefined;
  return countOfColumn(identifierOrder(metadata), columnOf(metadata, name), values);
}

/**
 * An SQL expression for the number of objects with the values of criteria that have no value in the one missing column, or
 * none of the excluded values: all with the values, less the others. `undefined` if criteria say anything else.
 */
function remainder(
  metadata: EntityMetadata,
  criteria: Criteria,
  values: ParameterValues,
): string | undefined {
  const { equal, intervals, missing, excluded, search, item } = criteria;
  if (search || item || intervals.length > 0) return undefined;
  if (missing.length + excluded.size !== 1) return undefined;
  const all = facetsOf(metadata, equal);
  // A statement must refer to every parameter that is added.
  if (!all) return undefined;
  const count = (facets: readonly Facet[]): string => countOfFacets(metadata, facets, values);
  const [column] = missing;
  if (column !== undefined) {
    const others = valuedCount(metadata, column, criteria, values);
    return others && `(${count(all)} - ${others})`;
  }
  const others = facetsOf(metadata, new Map([...equal, ...excluded]));
  return others && `(${count(all)} - ${count(others)})`;
}
