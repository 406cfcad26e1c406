import type { INestApplicationContext } from '@nestjs/common';
import { Any, DataSource, type EntityMetadata } from 'typeorm';
import { filteredLists } from './filtered-lists.js';
import { alternativesOf } from '../list/alternatives.js';
import { excludedValues } from '../list/criteria.js';
import type { Listing } from '../list/listing.js';
import { whereOf } from '../list/matching-objects.js';
import { type LookUp, lookUpsIn, replaceLookUps } from '../list/look-ups.js';
import { pathOf } from '../list/path.js';
import { filteredColumnsOf, identifierOf, resourcesOf } from '../resource/resource.js';

/**
 * The filters and sorts without an index, for which PostgreSQL reads the whole table, as lines with
 * the missing index. Each filter is checked alone, and each sort in both directions.
 */
export async function missingIndexes(application: INestApplicationContext): Promise<string[]> {
  const dataSource = application.get(DataSource);
  const resources = resourcesOf(dataSource);
  const found: string[] = [];
  for (const { metadata, parameter, listing } of await filteredLists(application)) {
    if (parameter === 'sort') {
      for (const { field } of listing.query.sort ?? []) {
        for (const order of ordersBy(metadata, field, resources.has(metadata.tableName))) {
          if (!(await servesSort(dataSource, metadata, order))) {
            found.push(missingIndex(metadata, `sort ${field}`, [order]));
          }
        }
      }
    } else {
      for (const lookUp of lookUpsIn(listing.conditions)) {
        if (await servesLookUp(dataSource, lookUp)) continue;
        const what = `filter ${parameter} of ${metadata.tableName}`;
        const columns = lookUp.columns.map((name) => `"${name}"`).join(', ');
        found.push(
          `no index serves the ${what}, which needs one on (${columns}) of ${lookUp.resource}`,
        );
      }
      const compared = listing.conditions
        .flatMap(alternativesOf)
        .flatMap((condition) => Object.entries(condition));
      const columns = compared.map(([name]) => name);
      const paths = compared.flatMap(([, condition]) => pathOf(condition)?.name ?? []);
      const computed = columns.find(
        (name) => metadata.findColumnWithPropertyName(name)?.isVirtualProperty,
      );
      if (computed !== undefined) {
        found.push(
          `no index can serve the filter ${parameter} of ${metadata.tableName}, since ${computed} is computed for each object`,
        );
      } else if (await servesFilter(dataSource, listing)) {
        continue;
      } else if (paths.length > 0) {
        found.push(
          `no index serves the filter ${parameter} of ${metadata.tableName}: add ${paths.join(' and ')} to paths of @Resource`,
        );
      } else {
        const isGin = columns.some((name) => needsGin(metadata, name));
        const names = columns.map((name) => `"${name}"`);
        found.push(missingIndex(metadata, `filter ${parameter}`, names, isGin));
      }
    }
  }
  return found;
}

/** The orders of a list that is sorted by a field, in SQL. */
function ordersBy(metadata: EntityMetadata, field: string, isResource: boolean): string[] {
  const ascending = `"${metadata.findColumnWithPropertyName(field)?.databaseName ?? field}"`;
  // By the identifier alone, an index is read backwards. Deletions have an index for one direction.
  if (!isResource || field === identifierOf(metadata).propertyName) return [ascending];
  // Objects without a value come last in both directions.
  return [ascending, `${ascending} DESC NULLS LAST`];
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
  const carried = [identifierOf(metadata).propertyName, ...filteredColumnsOf(metadata)];
  const others = conditions.filter(
    (condition) =>
      !alternativesOf(condition)
        .flatMap((alternative) => Object.entries(alternative))
        .every(([column, value]) => carried.includes(column) && excludedValues(value)),
  );
  if (others.length === 0) return true;
  // A list compares with the identifiers themselves, which it looks up first.
  const identifiers = lookUpsIn(others).map(() => Any([]));
  const { where, values } = whereOf(repository, replaceLookUps(others, identifiers));
  const text = `SELECT count(*) FROM "${metadata.tableName}" object ${where}`;
  return usesIndexes(await plan(dataSource, text, values));
}

/** Whether an index finds the objects whose columns a look-up compares. */
async function servesLookUp(
  dataSource: DataSource,
  { resource, columns }: LookUp,
): Promise<boolean> {
  const equal = columns.map((name, at) => `"${name}" = ANY($${at + 1})`);
  const text = `SELECT FROM "${resource}" WHERE ${equal.join(' AND ')}`;
  return usesIndexes(
    await plan(
      dataSource,
      text,
      columns.map(() => []),
    ),
  );
}

function usesIndexes(nodes: readonly PlanNode[]): boolean {
  const scans = nodes.filter(({ 'Node Type': type }) => type.endsWith('Scan'));
  return scans.every(
    (node) => node['Index Cond'] !== undefined || node['Node Type'] === 'Bitmap Heap Scan',
  );
}

/**
 * Whether an index returns the objects in an order, except for the order of equal values.
 *
 * @param order a column with its direction, in SQL
 */
async function servesSort(
  dataSource: DataSource,
  metadata: EntityMetadata,
  order: string,
): Promise<boolean> {
  const identifier = identifierOf(metadata).databaseName;
  const text = `SELECT * FROM "${metadata.tableName}" ORDER BY ${order}, "${identifier}" LIMIT 1`;
  const nodes = await plan(dataSource, text, []);
  return nodes.every(({ 'Node Type': type }) => type !== 'Sort');
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The plan nodes of a statement, with sequential scans and sorts only if there is no other way. */
function plan(
  dataSource: DataSource,
  text: string,
  values: readonly unknown[],
): Promise<PlanNode[]> {
  return dataSource.transaction(async (manager) => {
    await manager.query('SET LOCAL enable_seqscan = off');
    await manager.query('SET LOCAL enable_sort = off');
    // A scan of a whole index that carries the column is no help.
    await manager.query('SET LOCAL enable_indexonlyscan = off');
    const [row] = await manager.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(
      `EXPLAIN (FORMAT JSON) ${text}`,
      [...values],
    );
    const flat = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flat)];
    return (row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => flat(Plan));
  });
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
  return `no index serves the ${what} of ${metadata.tableName}, which needs ${index}`;
}

/** Whether a filter finds parts of a value: words of a text, or items of an array. */
function needsGin(metadata: EntityMetadata, property: string): boolean {
  const column = metadata.findColumnWithPropertyName(property);
  return column?.type === 'tsvector' || column?.isArray === true;
}
