import type { EntityMetadata } from 'typeorm';
import { listTableOf } from '../../resource/carried-columns.js';
import {
  createIndex,
  type ListIndex,
  listIndexes as declaredIndexes,
  listIndexPrefix,
} from '../../resource/list-indexes.js';
import { type Difference, orMigration } from '../difference.js';
import { type Part, recreatedColumns } from './part.js';

/** The indexes of a resource's lists. */
export const listIndexes: Part<readonly ListIndex[]> = {
  isForSpeed: true,
  async read(dataSource) {
    const rows = await dataSource.query<{ resource: string; indexes: Definition[] }[]>(
      `SELECT "table".relname AS resource, json_agg(
         json_build_object('name', index.relname, 'definition', pg_get_indexdef(indexrelid)) ORDER BY index.relname
       ) AS indexes
       FROM pg_index JOIN pg_class index ON index.oid = indexrelid
       JOIN pg_class "table" ON "table".oid = indrelid
       WHERE "table".relnamespace = current_schema()::regnamespace
       AND starts_with(index.relname, "table".relname || $1) GROUP BY "table".relname`,
      [listIndexPrefix('')],
    );
    return new Map(rows.map(({ resource, indexes }) => [resource, indexes.map(installedIndex)]));
  },

  differences(metadata, installed) {
    const { tableName: table } = metadata;
    const { missing, surplus } = compared(metadata, installed);
    const names = new Set([...missing, ...surplus].map(({ name }) => name));
    return [...names].map((name): Difference => {
      const [toDrop, toCreate] = [surplus, missing].map((indexes) =>
        indexes.find((index) => index.name === name),
      );
      const statements = [toDrop && drop(toDrop), toCreate && createIndex(table, toCreate)];
      const remedy = orMigration(statements.filter(Boolean).join('; '));
      if (!toDrop) return { text: `${table} has no index ${name}`, remedy };
      const text = `the index ${name} on ${table} is not`;
      return toCreate
        ? { text: `${text} as declared`, remedy }
        : { text: `${text} declared`, remedy, isSurplus: true };
    });
  },

  migrate(metadata, installed, { up, down }) {
    const { tableName: table } = metadata;
    const { declared, missing, surplus } = compared(metadata, installed);
    // Before a column of theirs is dropped.
    up.tables.unshift(...surplus.map(drop));
    up.tables.push(...missing.map((index) => createIndex(table, index)));
    down.tables.unshift(...missing.map(drop));
    down.tables.push(...surplus.map((index) => createIndex(table, index)));
    // PostgreSQL drops the others with a column that is dropped and added.
    const columns = recreatedColumns(up, table);
    const recreated = declared
      .filter((index) => columns.some((column) => index.columns.includes(`"${column}"`)))
      .filter((index) => !missing.includes(index))
      .map((index) => createIndex(table, index));
    up.last.push(...recreated);
    down.last.push(...recreated);
  },
};

function compared(metadata: EntityMetadata, installed: readonly ListIndex[] = []) {
  const declared = declaredIndexes(listTableOf(metadata));
  return {
    declared,
    /** Indexes that are not installed as declared. */
    missing: declared.filter((index) => !installed.some((other) => isSame(index, other))),
    /** Indexes that are installed, and not declared or not like this. */
    surplus: installed.filter((index) => !declared.some((other) => isSame(index, other))),
  };
}

interface Definition {
  readonly name: string;
  readonly definition: string;
}

function installedIndex({ name, definition }: Definition): ListIndex {
  // Everything from the method on, for an index that is not a plain B-tree.
  const columns = definition
    .replace(/^CREATE INDEX .*? USING btree /, '')
    .replace(/^CREATE .*? USING /, 'USING ');
  return { name, columns };
}

/** PostgreSQL quotes only the names that need it, and breaks lines. Storage parameters may differ. */
function isSame(one: ListIndex, other: ListIndex): boolean {
  const plain = ({ columns }: ListIndex): string =>
    columns.replace(/ WITH \([^)]*\)/, '').replace(/["\s]/g, '');
  return one.name === other.name && plain(one) === plain(other);
}

function drop({ name }: ListIndex): string {
  return `DROP INDEX "${name}"`;
}
