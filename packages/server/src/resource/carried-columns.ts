import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { COLUMN_TYPES } from './column-types.js';
import { columnTypeOf } from './column-values.js';
import { type IndexedColumn, indexedColumns, type ListTable } from './list-indexes.js';
import { declaredColumns } from './declaration.js';
import { columnOf, externalTableOf, identifierOf } from './resource.js';

/** A resource as `listIndexes` takes it. */
export function listTableOf(metadata: EntityMetadata): ListTable {
  const columns = (properties: readonly string[]): IndexedColumn[] =>
    properties.map((property) => indexedColumn(columnOf(metadata, property)));
  const { filtered, sorted } = declaredColumns(metadata);
  return {
    table: metadata.tableName,
    identifier: indexedColumn(identifierOf(metadata)),
    filtered: columns(filtered),
    sorted: columns(sorted),
  };
}

/** All properties of the list index that is ordered by one column; empty if there is none, as on an external table. */
export function carriedColumnsOf(metadata: EntityMetadata, column: string): readonly string[] {
  if (externalTableOf(metadata)) return [];
  let indexes = INDEXES.get(metadata);
  if (!indexes) {
    indexes = new Map(
      indexedColumns(listTableOf(metadata)).map(({ first, keys, carried }) => [
        first,
        [...keys, ...carried].flatMap(
          ({ name }) => metadata.findColumnWithDatabaseName(name)?.propertyName ?? [],
        ),
      ]),
    );
    INDEXES.set(metadata, indexes);
  }
  return indexes.get(columnOf(metadata, column).databaseName) ?? [];
}

/** The columns of the list indexes of each resource, by the first one. */
const INDEXES = new WeakMap<EntityMetadata, ReadonlyMap<string, readonly string[]>>();

/** A column with the bytes that a value of it has at most; infinite for a text without a length. */
function indexedColumn(column: ColumnMetadata): IndexedColumn {
  const { databaseName, length } = column;
  const type = columnTypeOf(column);
  const bytes = type ? COLUMN_TYPES[type].bytes({ length: Number(length) || Infinity }) : Infinity;
  return { name: databaseName, bytes };
}
