import {
  type DataSource,
  type EntityMetadata,
  getMetadataArgsStorage,
  type ObjectType,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ColumnMetadataArgs } from 'typeorm/metadata-args/ColumnMetadataArgs.js';
import {
  declaredColumns,
  declaredOf,
  DELETIONS,
  type ExternalTable,
  externalTableNamed,
  isResourceName,
  orderedBy,
} from './declaration.js';
import { type FilterEnd, readingsOf } from './filter-forms.js';

/** The name of several objects of an entity: `order items` for the resource `order_items`. */
export function pluralName(entity: ObjectType<unknown>): string {
  const table = getMetadataArgsStorage().tables.find(({ target }) => target === entity);
  const name = declaredOf({ target: entity })?.name ?? table?.name ?? 'objects';
  return name.replaceAll('_', ' ');
}

/** The name of an entity's resource. @throws TypeError if it is not a `@Resource` */
export function resourceName(entity: ObjectType<unknown>): string {
  const declared = declaredOf({ target: entity });
  if (declared) return declared.name;
  throw new TypeError(`${entity.name} is not a @Resource`);
}

/** The name of an entity's resource; that of the table for an entity of deletions. */
export function nameOf(metadata: Pick<EntityMetadata, 'target' | 'tableName'>): string {
  return declaredOf(metadata)?.name ?? metadata.tableName;
}

/** The table of an entity in SQL, with its schema if it is external. */
export function tableOf(metadata: Pick<EntityMetadata, 'target' | 'tableName'>): string {
  return tableNamed(nameOf(metadata));
}

/** The external table that a resource lists; `undefined` for a table of the service. */
export function externalTableOf(
  metadata: Pick<EntityMetadata, 'target'>,
): ExternalTable | undefined {
  return declaredOf(metadata)?.external;
}

/** The table of the resource of a name in SQL, with its schema if it is external. */
export function tableNamed(resource: string): string {
  const external = externalTableNamed(resource);
  return external ? quotedTable(external) : quotedName(resource);
}

/** An external table in SQL. */
export function quotedTable({ schema, name }: ExternalTable): string {
  return `${quotedName(schema)}.${quotedName(name)}`;
}

/** A name in SQL. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The primary column of an entity as it is declared; the first of a composite key. */
export function primaryColumnOf(entity: ObjectType<unknown>): ColumnMetadataArgs | undefined {
  return getMetadataArgsStorage()
    .filterColumns(entity)
    .find(({ options }) => options.primary);
}

/** The fields of an entity that a query computes for each object that is shown: `@VirtualColumn`. */
export function computedFields(entity: ObjectType<unknown>): string[] {
  return getMetadataArgsStorage()
    .filterColumns(entity)
    .filter(({ mode }) => mode === 'virtual-property')
    .map(({ propertyName }) => propertyName);
}

/** The resources of a data source, by name. */
export function resourcesOf(dataSource: DataSource): Map<string, EntityMetadata> {
  const resources = dataSource.entityMetadatas.filter(isResource);
  return new Map(resources.map((metadata) => [nameOf(metadata), metadata]));
}

/** Whether an entity is a resource. An entity of deletions is none. */
export function isResource(metadata: Pick<EntityMetadata, 'target'>): boolean {
  return declaredOf(metadata) !== undefined;
}

/** The columns whose values the tally counts by themselves, and not only in combinations. */
export function singleCountedColumnsOf(metadata: Pick<EntityMetadata, 'target'>): string[] {
  return declaredColumns(metadata).counted.flatMap((names) => (names.length === 1 ? names : []));
}

/**
 * Whether a column has few values, as an enumeration or a boolean. As in `tally_description` of `tally.sql`: the tallies of
 * sorted columns have the facets of such counted columns, too. The ranges of a rare value would span most of
 * an index.
 */
export function isBroad(metadata: EntityMetadata, name: string): boolean {
  const type = metadata.findColumnWithPropertyName(name)?.type;
  return type === 'enum' || type === 'boolean';
}

/** The column of a property. @throws TypeError if there is none */
export function columnOf(metadata: EntityMetadata, property: string): ColumnMetadata {
  const column = metadata.findColumnWithPropertyName(property);
  if (!column) throw new TypeError(`${metadata.tableName} has no column ${property}`);
  return column;
}

/**
 * The column by whose values lists are sorted that are to be sorted by a property.
 *
 * @throws TypeError if there is none
 */
export function orderColumnOf(metadata: EntityMetadata, property: string): ColumnMetadata {
  return columnOf(metadata, orderedBy(metadata.target, property));
}

/** A resource's public columns, in the order declared. */
export function fieldsOf(metadata: EntityMetadata): ColumnMetadata[] {
  return metadata.columns.filter(({ isSelect }) => isSelect);
}

/**
 * The column that identifies a resource's objects.
 *
 * @throws TypeError if the entity has no primary key or a composite one
 */
export function identifierOf(metadata: EntityMetadata): ColumnMetadata {
  const [column, ...others] = metadata.primaryColumns;
  if (!column || others.length > 0) {
    throw new TypeError(`The resource ${metadata.tableName} needs exactly one primary column`);
  }
  return column;
}

/**
 * Whether the service has the table of a resource: migrations create it with indexes and triggers for its lists, and
 * imports write it. Of any other table nothing is known: no trigger of the service is there.
 *
 * @param resource its name, or its entity
 */
export function hasOwnTable(resource: string | Pick<EntityMetadata, 'target'>): boolean {
  return typeof resource === 'string'
    ? isResourceName(resource) && !externalTableNamed(resource)
    : isResource(resource) && !externalTableOf(resource);
}

/** Those of some resources that the service has the tables of, as tables in SQL. PostgreSQL locks no materialized view. */
export function ownTables(resources: readonly string[]): string[] {
  return resources.filter((name) => hasOwnTable(name)).map(tableNamed);
}

/** Whether every change gives the lists of an entity another version. Those of deletions have that of the resource. */
export function isVersioned(metadata: Pick<EntityMetadata, 'target'>): boolean {
  return hasOwnTable(metadata) || DELETIONS.has(metadata.target as object);
}

/** The resources of a data source with a table of the service, by name. */
export function ownResources(dataSource: DataSource): Map<string, EntityMetadata> {
  return new Map([...resourcesOf(dataSource)].filter(([, metadata]) => hasOwnTable(metadata)));
}

/** What the name of a filter says. */
interface NamedColumn {
  readonly end: FilterEnd;
  /** The property of the column that it compares. */
  readonly column: string;
}

/** What filters are called by the times that TypeORM sets, whose columns may have any name. */
const TIMES: Readonly<Record<string, string>> = {
  createdAt: 'createDate',
  updatedAt: 'updateDate',
};

/** What the names of filters say, by the entity. Every request asks for some. */
const NAMED = new WeakMap<object, Map<string, NamedColumn | undefined>>();

/** What the name of a filter says of an entity, as `FILTER_FORMS` has it; `undefined` if it names no column. */
export function namedColumn(entity: object, filter: string): NamedColumn | undefined {
  const known = NAMED.get(entity) ?? new Map<string, NamedColumn | undefined>();
  NAMED.set(entity, known);
  if (!known.has(filter)) known.set(filter, read(entity as ObjectType<unknown>, filter));
  return known.get(filter);
}

function read(entity: ObjectType<unknown>, filter: string): NamedColumn | undefined {
  const columns = getMetadataArgsStorage().filterColumns(entity);
  for (const { end, column } of readingsOf(filter)) {
    const found =
      columns.find(({ mode }) => mode === TIMES[column]) ??
      columns.find(({ propertyName }) => propertyName === column);
    if (found) return { end, column: found.propertyName };
  }
  return undefined;
}
