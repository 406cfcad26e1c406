import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { COLUMN_TYPES, identifierColumn, textBytes } from './column-types.js';
import { columnTypeOf } from './column-values.js';
import { declaredColumns } from './declaration.js';
import { columnOf, externalTableOf, identifierOf, quotedName } from './resource.js';

/** A column that an index may have. */
interface IndexedColumn {
  /** Its name in the database. */
  readonly name: string;
  /** Maximum bytes of a value in an index, with padding; infinite for a text without a length. */
  readonly bytes: number;
}

export interface ListIndex {
  readonly name: string;
  /** What follows `USING btree` in CREATE INDEX. */
  readonly columns: string;
}

/**
 * Maximum bytes of the values of an index row: a third of a page, without the header of the row.
 * https://www.postgresql.org/docs/current/btree.html
 */
const MAXIMUM_BYTES = 2688;

/** Maximum bytes of a name in PostgreSQL. */
const MAXIMUM_NAME = 63;

/**
 * The indexes of a resource's lists: by identifier, and by each filtered and each sorted column. Read backwards,
 * they serve the descending order. Each carries the other filtered columns, so that
 * PostgreSQL evaluates a combination of filters within the index.
 */
export function listIndexes(metadata: EntityMetadata): ListIndex[] {
  const { databaseName: identifier } = identifierOf(metadata);
  return (
    indexedColumns(metadata)
      // Without carried columns, the index by identifier would be the primary key.
      .filter(({ first, carried }) => first !== identifier || carried.length > 0)
      .map(({ first, keys, carried }) => ({
        name: indexName(metadata.tableName, first),
        columns: `(${names(keys)})${carried.length === 0 ? '' : ` INCLUDE (${names(carried)})`}`,
      }))
  );
}

/** The columns by which each index finds objects, with the name of the first one, and those that it carries. */
function indexedColumns(metadata: EntityMetadata): {
  first: string;
  keys: readonly IndexedColumn[];
  carried: readonly IndexedColumn[];
}[] {
  const declared = declaredColumns(metadata);
  const [filtered = [], sorted = []] = [declared.filtered, declared.sorted].map((properties) =>
    properties.map((property) => indexedColumn(columnOf(metadata, property))),
  );
  const identifier = indexedColumn(identifierOf(metadata));
  const columns = new Map([identifier, ...filtered, ...sorted].map((each) => [each.name, each]));
  return [...columns.values()].map((column) => {
    const keys = column.name === identifier.name ? [column] : [column, identifier];
    return { first: column.name, keys, carried: carriedColumns(keys, filtered) };
  });
}

function indexedColumn(column: ColumnMetadata): IndexedColumn {
  const { databaseName, length } = column;
  const type = columnTypeOf(column);
  const bytes = type ? COLUMN_TYPES[type].bytes({ length: Number(length) || Infinity }) : Infinity;
  return { name: databaseName, bytes };
}

export function listIndexPrefix(table: string): string {
  return `${table}_by_`;
}

export function createIndex(table: string, { name, columns }: ListIndex): string {
  return `CREATE INDEX ${quotedName(name)} ON ${quotedName(table)} ${columns}`;
}

/**
 * The filtered columns that an index carries beside its key, in the order declared. A column whose
 * values are longer than identifiers is not carried, since it would multiply the size of the indexes.
 * Neither is a column with which a row of the index could exceed PostgreSQL's maximum.
 */
function carriedColumns(
  keys: readonly IndexedColumn[],
  filtered: readonly IndexedColumn[],
): IndexedColumn[] {
  let available = MAXIMUM_BYTES - keys.reduce((sum, { bytes }) => sum + bytes, 0);
  return filtered.filter(({ name, bytes }) => {
    if (keys.some((key) => key.name === name)) return false;
    if (bytes > textBytes(identifierColumn.length) || bytes > available) return false;
    available -= bytes;
    return true;
  });
}

function names(columns: readonly IndexedColumn[]): string {
  return columns.map(({ name }) => quotedName(name)).join(', ');
}

/** The name of an index, with a hash in place of a column whose name is too long. */
function indexName(table: string, column: string): string {
  const name = `${listIndexPrefix(table)}${column}`;
  if (Buffer.byteLength(name) <= MAXIMUM_NAME) return name;
  const hash = createHash('sha256').update(column).digest('hex').slice(0, 12);
  return `${listIndexPrefix(table)}${hash}`;
}

/** The columns of the list indexes of each resource, by the first one. */
const INDEXES = new WeakMap<EntityMetadata, ReadonlyMap<string, readonly string[]>>();

/** All properties of the list index that is ordered by one column; empty if there is none, as on an external table. */
export function carriedColumnsOf(metadata: EntityMetadata, column: string): readonly string[] {
  if (externalTableOf(metadata)) return [];
  let indexes = INDEXES.get(metadata);
  if (!indexes) {
    indexes = new Map(
      indexedColumns(metadata).map(({ first, keys, carried }) => [
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
