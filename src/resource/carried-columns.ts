import type { EntityMetadata, ObjectType } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { COLUMN_TYPES } from './column-types.js';
import { typeNameOf } from './column-values.js';
import { jsonPath, pathExpression } from './json-paths.js';
import { carriedColumns, type IndexedColumn, type ListTable } from './list-indexes.js';
import { declaredColumns } from './declaration.js';
import { columnOf, externalTableOf, identifierOf } from './resource.js';

/** A resource as `listIndexes` takes it. */
export function listTableOf(metadata: EntityMetadata): ListTable {
  const columns = (properties: readonly string[]): IndexedColumn[] =>
    properties.map((property) => indexedColumn(columnOf(metadata, property)));
  const { filtered, sorted, paths } = declaredColumns(metadata);
  return {
    table: metadata.tableName,
    identifier: indexedColumn(identifierOf(metadata)),
    filtered: columns(filtered),
    sorted: columns(sorted),
    paths: paths.map((name) => {
      const path = jsonPath(metadata.target as ObjectType<unknown>, name);
      const { databaseName } = columnOf(metadata, path.column);
      return { name, expression: pathExpression(path, `"${databaseName}"`) };
    }),
  };
}

/**
 * The names of all columns of the list index that is ordered by a column; empty if there is none, as on a
 * table of others.
 */
export function carriedColumnsOf(metadata: EntityMetadata, column: string): readonly string[] {
  if (externalTableOf(metadata)) return [];
  let indexes = INDEXES.get(metadata);
  if (!indexes) INDEXES.set(metadata, (indexes = indexedColumns(listTableOf(metadata))));
  return indexes.get(column) ?? [];
}

/** The columns of the list indexes of each resource, by the first one. */
const INDEXES = new WeakMap<EntityMetadata, ReadonlyMap<string, readonly string[]>>();

function indexedColumns({ identifier, filtered, sorted }: ListTable): Map<string, string[]> {
  return new Map(
    [identifier, ...filtered, ...sorted].map((key) => {
      const keys = [...new Set([key, identifier])];
      return [key.name, [...keys, ...carriedColumns(keys, filtered)].map(({ name }) => name)];
    }),
  );
}

/** A column with the bytes that a value of it has at most; infinite for a text without a length. */
export function indexedColumn(column: ColumnMetadata): IndexedColumn {
  const { databaseName, length } = column;
  const type = typeNameOf(column);
  const facts = Object.values(COLUMN_TYPES).find(({ columnTypes }) =>
    columnTypes.some((name) => name === type),
  );
  // A text without a length has no maximum.
  const bytes = facts?.bytes({ length: Number(length) || Infinity }) ?? Infinity;
  return { name: databaseName, bytes };
}
