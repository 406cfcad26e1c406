import type { INestApplicationContext } from '@nestjs/common';
import { DataSource, type EntityMetadata } from 'typeorm';
import { filteredLists } from './filtered-lists.js';
import type { Listing } from '../list/listing.js';
import { identifierOf } from '../resource/resource.js';

/**
 * The filters and sorts without an index, for which PostgreSQL reads the whole table, as lines with
 * the missing index. Each filter is checked alone.
 */
export async function missingIndexes(application: INestApplicationContext): Promise<string[]> {
  const dataSource = application.get(DataSource);
  const found: string[] = [];
  for (const { metadata, parameter, listing } of await filteredLists(application)) {
    if (parameter === 'sort') {
      for (const { field } of listing.query.sort ?? []) {
        const column = metadata.findColumnWithPropertyName(field)?.databaseName ?? field;
        if (!(await servesSort(dataSource, metadata, column))) {
          found.push(missingIndex(metadata, `sort ${field}`, [column]));
        }
      }
    } else {
      if (!(await servesFilter(dataSource, listing))) {
        const columns = listing.conditions.flatMap((condition) => Object.keys(condition));
        found.push(missingIndex(metadata, `filter ${parameter}`, columns));
      }
    }
  }
  return found;
}

/** Whether an index finds exactly the objects that meet the conditions of a list. */
async function servesFilter(
  dataSource: DataSource,
  { repository, conditions }: Listing,
): Promise<boolean> {
  const counting = repository.createQueryBuilder('object').select('count(*)');
  for (const condition of conditions) counting.andWhere(condition);
  const [text, values] = counting.getQueryAndParameters();
  const nodes = await plan(dataSource, text, values);
  const scans = nodes.filter(({ 'Node Type': type }) => type.endsWith('Scan'));
  return scans.every(
    (node) => node['Index Cond'] !== undefined || node['Node Type'] === 'Bitmap Heap Scan',
  );
}

/** Whether an index returns the objects sorted by a column, except for the order of equal values. */
async function servesSort(
  dataSource: DataSource,
  metadata: EntityMetadata,
  column: string,
): Promise<boolean> {
  const identifier = identifierOf(metadata).databaseName;
  const text = `SELECT * FROM "${metadata.tableName}" ORDER BY "${column}", "${identifier}" LIMIT 1`;
  const nodes = await plan(dataSource, text, []);
  return nodes.every(({ 'Node Type': type }) => type !== 'Sort');
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The plan nodes of a statement, with sequential scans and sorts only if there is no other way. */
function plan(dataSource: DataSource, text: string, values: unknown[]): Promise<PlanNode[]> {
  return dataSource.transaction(async (manager) => {
    await manager.query('SET LOCAL enable_seqscan = off');
    await manager.query('SET LOCAL enable_sort = off');
    const [row] = await manager.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(
      `EXPLAIN (FORMAT JSON) ${text}`,
      values,
    );
    const flat = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flat)];
    return (row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => flat(Plan));
  });
}

function missingIndex(metadata: EntityMetadata, what: string, columns: readonly string[]): string {
  const isWords = columns.some(
    (name) => metadata.findColumnWithPropertyName(name)?.type === 'tsvector',
  );
  const names = [
    ...new Set([...columns, ...(isWords ? [] : [identifierOf(metadata).databaseName])]),
  ];
  const index = `${isWords ? 'a gin index' : 'one'} on (${names.map((name) => `"${name}"`).join(', ')})`;
  return `no index serves the ${what} of ${metadata.tableName}, which needs ${index}`;
}
