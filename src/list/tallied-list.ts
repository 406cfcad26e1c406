import type { EntityMetadata } from 'typeorm';
import type { ParameterValues } from '../database/statement.js';
import { sqlTypeOf } from '../resource/column-values.js';
import {
  columnOf,
  identifierOf,
  isTallied,
  singleCountedColumnsOf,
  sortedColumnsOf,
} from '../resource/resource.js';
import { areEqualities, type Bound, type Criteria, facetsOf, type ValueRange } from './criteria.js';
import type { SortKey } from './list-query.dto.js';
import type { MatchingObjects } from './matching-objects.js';
import { onlyNamed } from './contains-words.js';
import { and, isSimple } from './picked-objects.js';
import { EVERY_OBJECT, type Facet, facetName } from './tally/facet.js';
import { type TalliedObjects, TallyPositions } from './tally/position.js';
import { wordCountOf, wordTallies } from './tally/word-tally.js';
import {
  countOf,
  countOfColumn,
  facetColumnsOf,
  identifierOrder,
  sortedOrder,
  tallyRows,
} from './tally/tally.js';

/** What the tally knows of a list, as SQL on `object`, the table of the resource. */
export interface TalliedList {
  /** Common table expressions that the other members refer to. */
  readonly tables: readonly string[];
  /** The number of matching objects; absent if the tally does not know it. */
  readonly count?: string;
  /**
   * The number of matching objects with a value in the sorted column; absent if the tally does not know
   * the place of the offset, or none is asked for. If it is present, the table `start` has one row for
   * the first object of the page: its value in the sorted column as `value`, and its identifier as `id`;
   * or, unless the order is `isSimple`, the number of objects with the same value before it as `skipped`.
   * It is empty if the page begins behind all objects with a value.
   */
  readonly valued?: string;
}

/**
 * Takes from the tally what it knows of a list.
 *
 * @param order the total order of the list
 * @param offset the parameter of the offset; absent: the place is not asked for
 * @param isCounted whether the count is known, so that it is only asked for where that costs next to nothing
 */
export function talliedList(
  metadata: EntityMetadata,
  { facets, criteria, where }: MatchingObjects,
  order: readonly SortKey[],
  values: ParameterValues,
  { offset, isCounted = false }: { offset?: string | undefined; isCounted?: boolean } = {},
): TalliedList {
  if (!criteria) return { tables: [] };
  const [first] = order;
  if (facets) {
    const byIdentifier = identifierOrder(metadata);
    const count = countOf(byIdentifier, values.add(facets.map(facetName)));
    if (offset === undefined || !first) return { tables: [], count };
    if (first.field === identifierOf(metadata).propertyName) {
      const positions = new TallyPositions({ metadata, order: byIdentifier, facets }, values);
      const { tables, total } = positions;
      positions.addPlace('start', first.direction === 'DESC' ? `${total} - 1 - ${offset}` : offset);
      return { tables, count, valued: total };
    }
    const positions = sortedPositions(metadata, first.field, criteria, values);
    if (!positions) return { tables: [], count };
    addSortedStart(positions, order, offset);
    return { tables: positions.tables, count, valued: positions.total };
  }
  const { ranges, missing, excluded, search } = criteria;
  if (search || ranges.length + missing.length + excluded.size !== 1) return { tables: [] };
  const [range] = ranges;
  if (!range) return { tables: [], count: remainder(metadata, criteria, values) };
  const isBounded = range.lower !== undefined || range.upper !== undefined;
  const isSorted = offset !== undefined && first?.field === range.column;
  const objects =
    isBounded || isSorted ? sortedObjects(metadata, range.column, criteria) : undefined;
  if (objects?.isNarrow && isCounted) return { tables: [] };
  const isPlaced = isSorted && !objects?.isNarrow;
  const positions =
    objects && (isBounded || isPlaced) ? new TallyPositions(objects, values) : undefined;
  if (!positions) {
    const count = isBounded ? undefined : valuedCount(metadata, range.column, criteria, values);
    return { tables: [], count };
  }
  const { tables, total } = positions;
  const type = sqlTypeOf(columnOf(metadata, range.column));
  tables.push(`outside AS MATERIALIZED (SELECT ${outsideOf(positions, range, type, values)})`);
  // If the lower bound is above the upper one, objects between them are outside twice.
  const count = `(SELECT greatest(0, ${total} - below - above) FROM outside)`;
  if (objects?.isNarrow) {
    const every = countOf(identifierOrder(metadata), values.add([facetName(EVERY_OBJECT)]));
    const direct = `(SELECT count(*) FROM object ${where})`;
    return {
      tables,
      count: `(CASE WHEN ${positions.spansMore(every)} THEN ${direct} ELSE ${count} END)`,
    };
  }
  if (!isPlaced) return { tables, count };
  addSortedStart(positions, order, offset, true);
  return { tables, count, valued: count };
}

/**
 * An SQL expression for the number of objects that a list searches for, or null if the tally does not know
 * it; `undefined` if it never does.
 *
 * @param matching conditions that search anywhere, or only in titles
 */
export function countByWord(
  metadata: EntityMetadata,
  matching: MatchingObjects,
  inTitle: boolean,
  values: ParameterValues,
): string | undefined {
  const { criteria, where } = matching;
  if (!criteria?.search || !areEqualities({ ...criteria, search: undefined })) return undefined;
  const { equal, search } = criteria;
  if (search.beginnings.length > 0) return undefined;
  const tally = wordTallies(metadata).find(({ column }) => column === search.column);
  if (!tally || equal.size > 1) return undefined;
  const facets = facetsOf(metadata, equal);
  if (!facets) return undefined;
  const count = wordCountOf(tally, search.words, inTitle, facets, values);
  const others = onlyNamed(search, inTitle, values);
  if (others === undefined) return count;
  return `${count} + (SELECT count(*) FROM object ${and(where, others)})`;
}

/** How many objects a table without a tally is assumed to have. */
const ASSUMED_OBJECTS = 1_000_000;

/**
 * An SQL expression for the number of objects that an index in the order of a list has: all of them, or in
 * the order of the identifier those with the one value of a counted column.
 */
export function indexSizeOf(
  metadata: EntityMetadata,
  { criteria }: MatchingObjects,
  order: readonly SortKey[],
  values: ParameterValues,
): string {
  if (!isTallied(metadata)) return String(ASSUMED_OBJECTS);
  const single = order.length === 1 && criteria ? [...criteria.equal] : [];
  const facets = single
    .filter(([, equals]) => equals.length === 1)
    .flatMap((criterion) => facetsOf(metadata, new Map([criterion])) ?? []);
  const names = values.add([EVERY_OBJECT, ...facets].map(facetName));
  const rows = tallyRows(identifierOrder(metadata), `WHERE facet = ANY(${names})`);
  return `(SELECT min(count) FROM (SELECT sum(count) AS count FROM ${rows} GROUP BY facet) facets)`;
}

/** The positions of the objects with the values of criteria in the order of a column, if it has a tally. */
function sortedPositions(
  metadata: EntityMetadata,
  name: string,
  criteria: Criteria,
  values: ParameterValues,
): TallyPositions | undefined {
  const objects = sortedObjects(metadata, name, criteria);
  return objects && !objects.isNarrow ? new TallyPositions(objects, values) : undefined;
}

/** Objects whose ranges in the order of a column the tally knows. */
interface SortedObjects extends TalliedObjects {
  /** Whether there are few of them in each part of the order, so that no offset is found in it. */
  readonly isNarrow: boolean;
}

/** The objects with the values of criteria and a value in a column, if it has a tally. */
function sortedObjects(
  metadata: EntityMetadata,
  name: string,
  { equal }: Criteria,
): SortedObjects | undefined {
  if (!sortedColumnsOf(metadata).includes(name)) return undefined;
  const order = sortedOrder(metadata, columnOf(metadata, name));
  const facets = facetsOf(metadata, equal, facetColumnsOf(metadata, order));
  if (!facets) return undefined;
  const isNarrow = order.narrow.includes(facets[0]?.columns.join('+') ?? '');
  return { metadata, order, facets, isNarrow };
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
  if (sorted) return countOf(sorted.order, values.add(sorted.facets.map(facetName)));
  if (criteria.equal.size > 0 || !singleCountedColumnsOf(metadata).includes(name)) return undefined;
  return countOfColumn(identifierOrder(metadata), name, values);
}

/**
 * The same for the objects with the values of criteria that have no value in its missing column, or none of
 * the excluded values: all with the values less the others.
 */
function remainder(
  metadata: EntityMetadata,
  criteria: Criteria,
  values: ParameterValues,
): string | undefined {
  const { equal, missing, excluded } = criteria;
  const order = identifierOrder(metadata);
  const all = facetsOf(metadata, equal);
  // A statement must refer to every parameter that is added.
  if (!all) return undefined;
  const count = (facets: readonly Facet[]): string =>
    countOf(order, values.add(facets.map(facetName)));
  const [column] = missing;
  if (column !== undefined) {
    const others = valuedCount(metadata, column, criteria, values);
    return others && `(${count(all)} - ${others})`;
  }
  const others = facetsOf(metadata, new Map([...equal, ...excluded]));
  return others && `(${count(all)} - ${count(others)})`;
}

/** The numbers of objects below a range of values and above it, as `below` and `above`. */
function outsideOf(
  positions: TallyPositions,
  { lower, upper }: ValueRange,
  type: string,
  values: ParameterValues,
): string {
  const bound = ({ value }: Bound): string => `(${values.add(value)}::${type})`;
  const below = lower ? positions.below(bound(lower), !lower.inclusive) : '0';
  const above = upper
    ? `${positions.total} - ${positions.below(bound(upper), upper.inclusive)}`
    : '0';
  return `${below} AS below, ${above} AS above`;
}

/**
 * Adds the table `start` for an order that begins with a sorted column.
 *
 * @param isRange whether the list is a range of values of the column, with a table `outside`
 */
function addSortedStart(
  positions: TallyPositions,
  order: readonly SortKey[],
  offset: string,
  isRange = false,
): void {
  const { tables, total } = positions;
  const isAscending = order[0]?.direction === 'ASC';
  const side = isAscending ? 'below' : 'above';
  const rank = isRange ? `(${offset} + (SELECT ${side} FROM outside))` : offset;
  if (isAscending && isSimple(order)) {
    positions.addPlace('start', rank);
    return;
  }
  // The tally is ascending, with ascending identifiers among equal values. So find the value first, and
  // then the place among the objects with this value.
  positions.addPlace('equal', isAscending ? rank : `${total} - 1 - ${rank}`);
  const value = '(SELECT value FROM equal)';
  const before = isAscending
    ? positions.below(value, false)
    : `${total} - ${positions.below(value, true)}`;
  tables.push(`equals AS MATERIALIZED (SELECT value, ${rank} - (${before}) AS skipped FROM equal)`);
  if (isSimple(order)) {
    const first = positions.below('(SELECT value FROM equals)', false);
    positions.addPlace('start', `(SELECT ${first} + skipped FROM equals)`);
  } else {
    tables.push('start AS (SELECT * FROM equals)');
  }
}
