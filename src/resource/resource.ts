import { type ColumnOptions, type DataSource, Entity, type EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { IDENTIFIER_LENGTH, NAME_LENGTH } from './formats.js';

const RESOURCE = Symbol('resource');

/**
 * An entity that is listed, imported and exported under the name of its table, which is its path.
 *
 * @param options.counted columns by one value of which a list has its count and any page at a
 * constant cost, as the list as a whole has; the migration names the same to `install_tally`
 */
export function Resource<const Column extends string = never>(
  name: string,
  options: { counted?: readonly Column[] } = {},
): (target: new () => Record<Column, unknown>) => void {
  return (target) => {
    Entity(name)(target);
    Reflect.defineMetadata(RESOURCE, options.counted ?? [], target);
  };
}

/** Column options of an identifier and of a reference to one: compared byte by byte. */
export const identifier = {
  type: 'varchar',
  length: IDENTIFIER_LENGTH,
  collation: 'C',
} as const satisfies ColumnOptions;

/** Column options of a name, and of any text filtered or sorted by: short enough for an index, and sorted by code point everywhere. */
export const name = {
  type: 'varchar',
  length: NAME_LENGTH,
  collation: 'C',
} as const satisfies ColumnOptions;

/** Column options of a time, kept as precisely as it is shown. */
export const time = { type: 'timestamptz', precision: 3 } as const satisfies ColumnOptions;

/** Every resource of a data source, by name. */
export function resourcesOf(dataSource: DataSource): Map<string, EntityMetadata> {
  const resources = dataSource.entityMetadatas.filter(
    ({ target }) => typeof target === 'function' && Reflect.hasMetadata(RESOURCE, target),
  );
  return new Map(resources.map((metadata) => [metadata.tableName, metadata]));
}

/** The columns of which a resource's tally counts each value. */
export function countedOf({ target }: EntityMetadata): readonly string[] {
  return Reflect.getMetadata(RESOURCE, target) as readonly string[];
}

/** A resource's public columns, in the order declared. */
export function fieldsOf(metadata: EntityMetadata): ColumnMetadata[] {
  return metadata.columns.filter(({ isSelect }) => isSelect);
}

/** The column that identifies a resource's objects. */
export function identifierOf(metadata: EntityMetadata): ColumnMetadata {
  const [column, ...others] = metadata.primaryColumns;
  if (!column || others.length > 0) {
    throw new TypeError(`The resource ${metadata.tableName} needs exactly one primary column`);
  }
  return column;
}

/**
 * The SQL expression of a column's public form, which `row_to_json` then writes as the contract
 * has it: a decimal as text, a time as RFC 3339 in UTC with milliseconds.
 *
 * @param reference how the statement calls the column
 */
export function publicForm(column: ColumnMetadata, reference: string): string {
  switch (column.type) {
    case 'numeric':
      return `(${reference})::text`;
    case 'timestamptz':
    case 'timestamp with time zone':
      return `to_char(${reference} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    default:
      return reference;
  }
}
