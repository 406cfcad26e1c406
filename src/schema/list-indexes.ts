import type { DataSource, EntityMetadata } from 'typeorm';
import { listTableOf } from '../resource/carried-columns.js';
import { type ListIndex, listIndexes, listIndexPrefix } from '../resource/list-indexes.js';
import { ownResourcesOf } from '../resource/resource.js';

/** How the indexes of a resource's lists differ from what its entity declares. */
export interface ListIndexChanges {
  /** Declared indexes that do not exist as declared. */
  readonly missing: readonly ListIndex[];
  /** Existing indexes that are not declared, or not like this. */
  readonly surplus: readonly ListIndex[];
}

/** Compares the indexes of lists with the entities. By resource; only those that differ. */
export async function listIndexChanges(
  dataSource: DataSource,
): Promise<Map<EntityMetadata, ListIndexChanges>> {
  const all = await existingIndexes(dataSource);
  const changes = new Map<EntityMetadata, ListIndexChanges>();
  for (const [table, metadata] of ownResourcesOf(dataSource)) {
    const declared = listIndexes(listTableOf(metadata));
    const existing = all.filter((index) => index.table === table);
    const missing = declared.filter((index) => !existing.some((other) => isSame(index, other)));
    const surplus = existing.filter((index) => !declared.some((other) => isSame(index, other)));
    if (missing.length > 0 || surplus.length > 0) changes.set(metadata, { missing, surplus });
  }
  return changes;
}

/** Whether a statement creates or drops an index of a resource's lists. */
export function changesListIndex(dataSource: DataSource, statement: string): boolean {
  const [, name] = /^(?:CREATE|DROP) INDEX (?:"[^"]+"\.)?"([^"]+)"/.exec(statement) ?? [];
  const tables = [...ownResourcesOf(dataSource).keys()];
  return name !== undefined && tables.some((table) => name.startsWith(listIndexPrefix(table)));
}

interface ExistingIndex extends ListIndex {
  readonly table: string;
}

async function existingIndexes(dataSource: DataSource): Promise<ExistingIndex[]> {
  const rows = await dataSource.query<{ table: string; name: string; definition: string }[]>(
    `SELECT "table".relname AS table, index.relname AS name, pg_get_indexdef(indexrelid) AS definition
     FROM pg_index JOIN pg_class index ON index.oid = indexrelid
     JOIN pg_class "table" ON "table".oid = indrelid
     WHERE "table".relnamespace = current_schema()::regnamespace
     AND starts_with(index.relname, "table".relname || $1) ORDER BY index.relname`,
    [listIndexPrefix('')],
  );
  return rows.map(({ table, name, definition }) => ({
    table,
    name,
    // Everything from the method on, for an index that is not a plain B-tree.
    columns: definition
      .replace(/^CREATE INDEX .*? USING btree /, '')
      .replace(/^CREATE .*? USING /, 'USING '),
  }));
}

/** PostgreSQL quotes only the names that need it, and breaks lines. Storage parameters may differ. */
function isSame(one: ListIndex, other: ListIndex): boolean {
  const plain = ({ columns }: ListIndex): string =>
    columns.replace(/ WITH \([^)]*\)/, '').replace(/["\s]/g, '');
  return one.name === other.name && plain(one) === plain(other);
}
