import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ParameterValues } from '../database/statement.js';
import { declaredColumns } from '../resource/declaration.js';
import {
  columnOf,
  identifierOf,
  isBroad,
  nameOf,
  singleCountedColumnsOf,
} from '../resource/resource.js';
import { facetBounds, namesOf } from './facet.js';

/** A table of counts, and that of the changes since. */
export interface Tally {
  /** The tables, quoted. */
  readonly tally: string;
  readonly deltas: string;
  /** The columns that identify a row of the tally. */
  readonly key: string;
}

/**
 * An order in which the tally of a resource keeps ranges: by identifier, or by a sorted column and then
 * by identifier. The tally in the order of a column leaves out objects without a value.
 */
export interface TallyOrder extends Tally {
  readonly identifier: ColumnMetadata;
  /** The sorted column; absent: the order of the identifier. */
  readonly column?: ColumnMetadata;
  /** The columns of the tables that name a range within its facet: `lowest`, or `value, lowest`. */
  readonly rangeKey: string;
  /** `rangeKey` for ORDER BY. The first range has no `value`. */
  readonly rangeKeyOrder: string;
  /** The columns of the facets that have few objects among those next to each other in the order, such as `categoryID+type`. */
  readonly narrow: readonly string[];
}

/** The order by identifier. */
export function identifierOrder(metadata: EntityMetadata): TallyOrder {
  const resource = nameOf(metadata);
  return {
    identifier: identifierOf(metadata),
    tally: `"${resource}_tally"`,
    deltas: `"${resource}_tally_deltas"`,
    key: 'facet, lowest',
    rangeKey: 'lowest',
    rangeKeyOrder: 'lowest',
    narrow: [],
  };
}

/** The order by a sorted column. It leaves out objects without a value. */
export function sortedOrder(metadata: EntityMetadata, column: ColumnMetadata): TallyOrder {
  const table = `${metadata.tableName}_tally_by_${column.databaseName}`;
  return {
    identifier: identifierOf(metadata),
    column,
    tally: `"${table}"`,
    deltas: `"${table}_deltas"`,
    key: 'facet, value, lowest',
    rangeKey: 'value, lowest',
    rangeKeyOrder: 'value NULLS FIRST, lowest',
    narrow: narrowColumnsOf(metadata, column).map(namesOf),
  };
}

/** Every order of a resource's tally. */
export function tallyOrders(metadata: EntityMetadata): TallyOrder[] {
  const sorted = declaredColumns(metadata).sorted.map((name) =>
    sortedOrder(metadata, columnOf(metadata, name)),
  );
  return [identifierOrder(metadata), ...sorted];
}

/**
 * The columns of the facets in an order, by default that of the identifier, besides the facet of all objects. In the order
 * of the identifier: those that are counted. In that of a column: the broad ones, and those of its intervals.
 */
export function facetColumnsOf(
  metadata: EntityMetadata,
  { column }: Pick<TallyOrder, 'column'> = {},
): ColumnMetadata[][] {
  if (!column) return columnsOf(metadata, declaredColumns(metadata).counted);
  const broad = singleCountedColumnsOf(metadata)
    .filter((name) => isBroad(metadata, name))
    .map((name) => [name]);
  return [...columnsOf(metadata, broad), ...narrowColumnsOf(metadata, column)];
}

/**
 * The columns of the facets within which the items of an array are counted: of those in the order of the identifier, those
 * with at most one column that is not broad. Of others, such as `categoryID+brandID`, nearly every object has its own.
 */
export function itemFacetColumnsOf(metadata: EntityMetadata): ColumnMetadata[][] {
  return facetColumnsOf(metadata).filter(
    (columns) => columns.filter((column) => !isBroad(metadata, column.propertyName)).length <= 1,
  );
}

/** The columns of the facets within which the intervals of a sorted column are counted. */
function narrowColumnsOf(
  metadata: EntityMetadata,
  { propertyName: sorted }: ColumnMetadata,
): ColumnMetadata[][] {
  const intervals = declaredColumns(metadata).intervals.filter(({ of }) => of === sorted);
  return columnsOf(
    metadata,
    intervals.map(({ within }) => within),
  );
}

/** The columns of combinations of properties. */
function columnsOf(
  metadata: EntityMetadata,
  combinations: readonly (readonly string[])[],
): ColumnMetadata[][] {
  return combinations.map((names) => names.map((name) => columnOf(metadata, name)));
}

/** A subquery of every row of a tally and its deltas. */
export function tallyRows({ tally, deltas }: Tally, where = ''): string {
  return `(SELECT * FROM ${tally} ${where} UNION ALL SELECT * FROM ${deltas} ${where}) every`;
}

/**
 * An SQL expression for the number of objects of facets, as a number.
 *
 * @param parameter the SQL parameter that holds the names of the facets
 */
export function countOf(order: TallyOrder, parameter: string): string {
  return countWhere(order, `facet = ANY(${parameter})`);
}

/** An SQL expression for the number of objects with a value in a column: those of the facets of every value. */
export function countOfColumn(
  order: TallyOrder,
  column: ColumnMetadata,
  values: ParameterValues,
): string {
  const [first, end] = facetBounds([column]).map((bound) => values.add(bound));
  return countWhere(order, `facet >= ${first} AND facet < ${end}`);
}

/** An SQL expression for the number of objects in the rows of a tally that meet a condition. */
export function countWhere({ tally, deltas }: Tally, condition: string): string {
  const [tallied, since] = [tally, deltas].map(
    (table) => `(SELECT coalesce(sum(count), 0) FROM ${table} WHERE ${condition})`,
  );
  return `(${tallied} + ${since})`;
}
