import type { INestApplicationContext } from '@nestjs/common';
import { DataSource, type EntityMetadata } from 'typeorm';
import { ParameterValues } from '../database/statement.js';
import { databaseFailure } from '../database/database-failure.js';
import { type FilteredList, filteredLists } from './filtered-lists.js';
import {
  columnConditions,
  type IdentifierQuery,
  identifierQueriesIn,
  indexedBy,
  withoutQueries,
} from '../list/condition/condition.js';
import { whereOf } from '../list/condition/print.js';
import type { Listing } from '../list/listing/listing.js';
import { declaredColumns } from '../resource/declaration.js';
import { columnOf, identifierOf, nameOf, tableOf } from '../resource/resource.js';
import { isInOrder, plan, usesIndexes } from '../schema/plan.js';

/**
 * The filters and sorts without an index, for which PostgreSQL reads the whole table, as lines with
 * the missing index. Each filter and each sort is checked alone.
 */
export async function missingIndexes(application: INestApplicationContext): Promise<string[]> {
  const dataSource = application.get(DataSource);
  const found: string[] = [];
  for (const list of await filteredLists(application)) {
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
  return found;
}

async function ofSorts(
  dataSource: DataSource,
  { metadata, listing }: FilteredList,
): Promise<string[]> {
  const found: string[] = [];
  for (const { field } of listing.query.sort ?? []) {
    const column = `"${columnOf(metadata, field).databaseName}"`;
    if (!(await servesSort(dataSource, metadata, column))) {
      found.push(missingIndex(metadata, `sort ${field}`, [column]));
    }
  }
  return found;
}

async function ofFilter(
  dataSource: DataSource,
  { metadata, parameter, listing }: FilteredList,
): Promise<string[]> {
  const found: string[] = [];
  for (const query of identifierQueriesIn(listing.conditions)) {
    if (await servesQuery(dataSource, query)) continue;
    const what = `filter ${parameter} of ${nameOf(metadata)}`;
    const columns = query.columns.map((name) => `"${name}"`).join(', ');
    found.push(
      `no index serves the ${what}, which needs one on (${columns}) of ${nameOf(query.metadata)}`,
    );
  }
  const compared = columnConditions(listing.conditions);
  const columns = compared.map(({ column }) => column);
  const paths = compared.flatMap((each) => (each.kind === 'path' ? [each.path.name] : []));
  const computed = columns.find(
    (name) => metadata.findColumnWithPropertyName(name)?.isVirtualProperty,
  );
  if (computed !== undefined) {
    found.push(
      `no index can serve the filter ${parameter} of ${nameOf(metadata)}, since ${computed} is computed for each object`,
    );
  } else if (await servesFilter(dataSource, listing)) {
    return found;
  } else if (paths.length > 0) {
    found.push(
      `no index serves the filter ${parameter} of ${nameOf(metadata)}: add ${paths.join(' and ')} to paths of @Resource`,
    );
  } else if (compared.some((each) => !indexedBy(each))) {
    // One of the column does not help with an expression of it.
    found.push(
      `no index serves the filter ${parameter} of ${nameOf(metadata)}, whose condition is SQL`,
    );
  } else {
    const isGin = columns.some((name) => needsGin(metadata, name));
    const names = columns.map((name) => `"${columnOf(metadata, name).databaseName}"`);
    found.push(missingIndex(metadata, `filter ${parameter}`, names, isGin));
  }
  return found;
}

/**
 * Whether an index finds exactly the objects that meet the conditions of a list. A condition that excludes
 * values is met by most objects: it is enough that the indexes of the lists carry its column.
 */
async function servesFilter(
  dataSource: DataSource,
  { repository, conditions }: Listing,
): Promise<boolean> {
  const { metadata } = repository;
  const carried = [identifierOf(metadata).propertyName, ...declaredColumns(metadata).filtered];
  const others = conditions.filter(
    (condition) => !(condition.kind === 'not' && carried.includes(condition.column)),
  );
  if (others.length === 0) return true;
  // A list compares with the identifiers themselves, which it looks up first.
  const values = new ParameterValues();
  const where = whereOf(withoutQueries(others), { metadata, values });
  const text = `SELECT count(*) FROM ${tableOf(metadata)} object ${where}`;
  return usesIndexes(await plan(dataSource, text, values.values));
}

/** Whether an index finds the objects whose columns a query compares. */
async function servesQuery(
  dataSource: DataSource,
  { metadata, columns }: IdentifierQuery,
): Promise<boolean> {
  const equal = columns.map((name, at) => `"${name}" = ANY($${at + 1})`);
  const text = `SELECT FROM ${tableOf(metadata)} WHERE ${equal.join(' AND ')}`;
  const values = columns.map(() => []);
  return usesIndexes(await plan(dataSource, text, values));
}

/** Whether an index returns the objects in the order of a quoted column; read backwards, also in descending order. */
async function servesSort(
  dataSource: DataSource,
  metadata: EntityMetadata,
  column: string,
): Promise<boolean> {
  const identifier = identifierOf(metadata).databaseName;
  const text = `SELECT * FROM ${tableOf(metadata)} ORDER BY ${column}, "${identifier}" LIMIT 1`;
  return isInOrder(await plan(dataSource, text, []));
}

function missingIndex(
  metadata: EntityMetadata,
  what: string,
  columns: readonly string[],
  isGin = false,
): string {
  const identifier = `"${identifierOf(metadata).databaseName}"`;
  const names = [...new Set([...columns, ...(isGin ? [] : [identifier])])];
  const index = `${isGin ? 'a gin index' : 'one'} on (${names.join(', ')})`;
  return `no index serves the ${what} of ${nameOf(metadata)}, which needs ${index}`;
}

/** Whether a filter finds parts of a value: words of a text, or items of an array. */
function needsGin(metadata: EntityMetadata, property: string): boolean {
  const column = metadata.findColumnWithPropertyName(property);
  return column?.type === 'tsvector' || column?.isArray === true;
}
