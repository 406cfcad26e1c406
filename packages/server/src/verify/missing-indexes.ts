import type { INestApplicationContext } from '@nestjs/common';
import { DataSource, type EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { ParameterValues } from '../database/statement.js';
import { databaseFailure } from '../database/database-failure.js';
import {
  type ColumnCondition,
  columnConditions,
  identifierQueriesIn,
  type IdentifierQuery,
  withoutQueries,
} from '../list/condition/condition.js';
import { whereOf } from '../list/condition/print.js';
import type { Listing } from '../list/listing/listing.js';
import { declaredColumns, orderedBy } from '../resource/declaration.js';
import { relatedOf } from '../resource/relations.js';
import {
  hasOwnTable,
  identifierOf,
  nameOf,
  orderColumnOf,
  resourcesOf,
  tableOf,
} from '../resource/resource.js';
import { isInOrder, isServed, plan } from '../schema/plan.js';
import type { CalledLists, FilteredList } from './called-lists.js';

/**
 * The filters, sorts and children without an index, for which PostgreSQL reads the whole table, as lines with
 * the missing index. Each filter and each sort is checked alone.
 */
export async function missingIndexes(
  { lists }: CalledLists,
  application: INestApplicationContext,
): Promise<string[]> {
  const dataSource = application.get(DataSource);
  const found: string[] = [];
  for (const list of lists) {
    try {
      found.push(...(await (list.parameter === 'sort' ? ofSorts : ofFilter)(dataSource, list)));
    } catch (error) {
      if (databaseFailure(error)) throw error;
      const { parameter, metadata } = list;
      found.push(
        `the list of ${nameOf(metadata)} with ${parameter} fails: ${(error as Error).message}`,
      );
    }
  }
  for (const metadata of resourcesOf(dataSource).values()) {
    found.push(...(await ofChildren(dataSource, metadata)));
  }
  return found;
}

async function ofChildren(dataSource: DataSource, metadata: EntityMetadata): Promise<string[]> {
  const found: string[] = [];
  for (const { name, column, metadata: child, children } of relatedOf(metadata)) {
    if (!children) continue;
    const columns = [column.databaseName];
    if (await servesQuery(dataSource, { metadata: child, columns })) continue;
    found.push(
      `no index serves ${name} of ${nameOf(metadata)}, which need ${indexOn(child, [column])} of ${nameOf(child)}`,
    );
  }
  return found;
}

async function ofSorts(
  dataSource: DataSource,
  { metadata, listing }: FilteredList,
): Promise<string[]> {
  const found: string[] = [];
  const { databaseName: identifier } = identifierOf(metadata);
  for (const { field } of listing.query.sort ?? []) {
    const column = orderColumnOf(metadata, field);
    // Read backwards, an index serves the descending order, too.
    const order = `"${column.databaseName}", "${identifier}"`;
    const text = `SELECT * FROM ${tableOf(metadata)} ORDER BY ${order} LIMIT 1`;
    if (isInOrder(await plan(dataSource, text, []))) continue;
    found.push(
      `no index serves the sort ${field} of ${nameOf(metadata)}, which needs ${indexOn(metadata, [column])}`,
    );
  }
  return found;
}

async function ofFilter(
  dataSource: DataSource,
  { metadata, parameter, listing }: FilteredList,
): Promise<string[]> {
  const what = `filter ${parameter} of ${nameOf(metadata)}`;
  const found: string[] = [];
  for (const query of identifierQueriesIn(listing.filters)) {
    if (await servesQuery(dataSource, query)) continue;
    const columns = query.columns.map((name) => `"${name}"`).join(', ');
    found.push(
      `no index serves the ${what}, which needs one on (${columns}) of ${nameOf(query.metadata)}`,
    );
  }
  const compared = columnConditions(listing.filters);
  const columns = compared.flatMap(
    ({ column }) => metadata.findColumnWithPropertyName(column) ?? [],
  );
  const computed = columns.find(({ isVirtualProperty }) => isVirtualProperty)?.propertyName;
  if (computed !== undefined) {
    return [
      ...found,
      `no index can serve the ${what}, since ${computed} is computed for each object`,
    ];
  }
  if (await servesFilter(dataSource, listing)) return found;
  // An index on the column does not help with an expression of it.
  const remedy = compared.some(({ kind }) => kind === 'sql')
    ? ', whose condition is SQL'
    : `, which needs ${indexOn(metadata, columns)}`;
  return [...found, `no index serves the ${what}${remedy}`];
}

/**
 * Whether an index finds exactly the objects that meet the conditions of a list. A condition that excludes
 * values is met by most objects: it is enough that the indexes of the lists carry its column. None can carry an array.
 */
async function servesFilter(
  dataSource: DataSource,
  { repository, filters }: Listing,
): Promise<boolean> {
  const { metadata } = repository;
  const carried = [identifierOf(metadata).propertyName, ...declaredColumns(metadata).filtered];
  const others = filters.filter(
    (condition) =>
      !(condition.kind === 'not' && carried.includes(condition.column)) &&
      condition.kind !== 'lacks' &&
      condition.kind !== 'filled',
  );
  if (others.length === 0) return true;
  // A list compares with the identifiers themselves, which it looks up first.
  const values = new ParameterValues();
  const where = whereOf(withoutQueries(others), { metadata, values });
  const text = `SELECT count(*) FROM ${tableOf(metadata)} object ${where}`;
  return isServed(dataSource, text, values.values);
}

/** Whether an index finds the objects whose columns a query compares. */
async function servesQuery(
  dataSource: DataSource,
  { metadata, columns }: Pick<IdentifierQuery, 'metadata' | 'columns'>,
): Promise<boolean> {
  const equal = columns.map((name, at) => `"${name}" = ANY($${at + 1})`);
  const text = `SELECT FROM ${tableOf(metadata)} WHERE ${equal.join(' AND ')}`;
  const values = columns.map(() => []);
  return isServed(dataSource, text, values);
}

/** The index that serves columns: with the identifier, or a gin index that finds words of a text and items of an array. */
function indexOn(metadata: EntityMetadata, columns: readonly ColumnMetadata[]): string {
  const isGin = columns.some(({ type, isArray }) => type === 'tsvector' || isArray);
  const indexed = isGin ? columns : [...columns, identifierOf(metadata)];
  const names = new Set(indexed.map(({ databaseName }) => `"${databaseName}"`));
  return `${isGin ? 'a gin index' : 'one'} on (${[...names].join(', ')})`;
}

/** The filters by times of every entity, for copies, which need no order: a time in every index costs each write. */
const TIME_FILTERS = new Set(['updatedSince', 'updatedUntil', 'createdSince', 'createdUntil']);

/**
 * The filters whose column no index of a sort carries, as lines with the remedy. For such a filter and
 * sort together PostgreSQL reads and sorts all matching objects, or reads all objects in the order of
 * the sort. Columns that are declared as filtered but too long to be carried are not reported.
 */
export function uncarriedFilters(called: CalledLists): string[] {
  // External tables have no index that follows from an entity.
  const lists = called.lists.filter(({ metadata }) => hasOwnTable(metadata));
  const found: string[] = [];
  for (const { metadata, parameter, listing } of lists) {
    if (parameter === 'sort' || TIME_FILTERS.has(parameter)) continue;
    const query = listing.query.constructor;
    const sorts = lists
      .filter((other) => other.parameter === 'sort' && other.listing.query.constructor === query)
      .flatMap((other) => (other.listing.query.sort ?? []).map(({ field }) => field))
      .filter((field) =>
        declaredColumns(metadata).sorted.includes(orderedBy(metadata.target, field)),
      );
    for (const condition of columnConditions(listing.filters)) {
      const { column } = condition;
      const uncarried = sorts.filter((sort) => orderedBy(metadata.target, sort) !== column);
      if (uncarried.length === 0 || !needsCarrying(metadata, condition)) continue;
      found.push(
        `no index serves the filter ${parameter} of ${metadata.tableName} with the sort ` +
          `${uncarried.join(' or ')}: add ${column} to filtered`,
      );
    }
  }
  return found;
}

function needsCarrying(metadata: EntityMetadata, condition: ColumnCondition): boolean {
  const { kind, column: property } = condition;
  const column = metadata.findColumnWithPropertyName(property);
  // A B-tree cannot carry the words of a text, the items of an array, nor what is computed, in a field or by SQL.
  if (!column || column === identifierOf(metadata)) return false;
  if (kind === 'sql') return false;
  if (column.type === 'tsvector' || column.isArray || column.isVirtualProperty) return false;
  if (declaredColumns(metadata).filtered.includes(property)) return false;
  // Few objects have the same free text, so that sorting them is cheap.
  const isReference = metadata.foreignKeys.some(({ columns }) => columns.includes(column));
  const isCounted = declaredColumns(metadata).counted.some((columns) => columns.includes(property));
  return (
    !['varchar', 'text'].includes(String(column.type)) ||
    isReference ||
    isCounted ||
    kind !== 'equal'
  );
}
