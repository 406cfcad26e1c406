import {
  type DataSource,
  Entity,
  type EntityMetadata,
  getMetadataArgsStorage,
  Index,
  type ObjectType,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ColumnMetadataArgs } from 'typeorm/metadata-args/ColumnMetadataArgs.js';
import { Meaning, meaningOf } from './meaning.js';
import { type Scope, setScope } from './scope.js';

const RESOURCE = Symbol('resource');

/** The tables of others, by the names of their resources. Statements know resources by their names. */
const EXTERNAL = new Map<string, ExternalTable>();

/** What lists do with the columns of a resource. Every name is a property of the entity. */
export interface ListColumns<Column extends string> {
  /**
   * Columns whose values the tally counts, and combinations of columns. A list that is filtered by
   * values of one of them, or of one of the combinations, takes its count and the position of an offset
   * from the tally, without reading every matching object.
   */
  readonly counted?: readonly (Column | readonly Column[])[];
  /**
   * Columns that filters compare. Each has an index, and every index of the lists carries the others as
   * far as they fit into its rows, so that an index alone answers a combination of filters.
   */
  readonly filtered?: readonly Column[];
  /**
   * Columns that lists are sorted by. Each has an index, and the tally finds an offset in their order: of all
   * objects, of those with values of one counted enumeration or boolean, and of those in an interval of the
   * column itself.
   */
  readonly sorted?: readonly Column[];
  /**
   * Columns of type `tsvector` that a list searches for words. The tally counts the objects with a common
   * word, in all and with each value of each counted column.
   */
  readonly searched?: readonly Column[];
  /** Intervals of sorted columns that the tally counts among objects with the same values, such as prices of a category. */
  readonly intervals?: readonly CountedIntervals<Column>[];
  /** Values within columns of type `jsonb` that filters compare, such as `hours.monday.open`. Each has an index. */
  readonly paths?: readonly `${string}.${string}`[];
}

/** The intervals of a sorted column among the objects with one value in each of other columns. */
export interface CountedIntervals<Column extends string> {
  /** The sorted column. */
  readonly of: Column;
  /** The other columns. They are enough to find the objects: name them in `filtered`, too. */
  readonly within: readonly [Column, ...Column[]];
}

/** A table, view, materialized view or foreign table that others create, change and write to. */
export interface ExternalTable {
  readonly schema: string;
  readonly name: string;
  /**
   * Whether triggers of the service count the objects of the table, version it, and record when they were changed and
   * deleted, by `track_table`. Its owner must grant `TRIGGER`. Default: false.
   */
  readonly tracked?: boolean;
}

/** The options of a resource. */
interface ResourceOptions<Column extends string> extends ListColumns<Column> {
  /**
   * Lists a table of others, which is only read: no migration changes it. It has none of `ListColumns`, except
   * `counted` if it is tracked. If it is not, nothing counts or versions its rows, or records deletions.
   * Default: the service has a table of its own, under the name of the resource.
   */
  readonly external?: ExternalTable;
  /** Restricts what each client sees. Default: every client sees every object. */
  readonly scope?: Scope<Column>;
}

/**
 * Declares an entity that is listed, imported and exported. An `@UpdateDateColumn` gets an index, for
 * the filter `updatedSince`. The compiler infers the entity from the class that is decorated, and reports a
 * misspelt column at its name.
 *
 * @param name the name of the resource, its path and, unless it is external, its table
 */
export function Resource<Entity extends object>(
  name: string,
  {
    counted = [],
    filtered = [],
    sorted = [],
    searched = [],
    intervals = [],
    paths = [],
    external,
    scope,
  }: ResourceOptions<NoInfer<keyof Entity & string>> = {},
): (target: new () => Entity) => void {
  return (target) => {
    Entity(
      external ? { schema: external.schema, name: external.name, synchronize: false } : { name },
    )(target);
    if (external) EXTERNAL.set(name, external);
    if (scope) setScope(target, scope);
    const declared: Declared = {
      name,
      external,
      counted: counted.map((names) => (typeof names === 'string' ? [names] : names)),
      filtered,
      sorted,
      searched,
      intervals,
      paths,
    };
    Reflect.defineMetadata(RESOURCE, declared, target);
    const columns = getMetadataArgsStorage().filterColumns(target);
    const [identifier] = columns.filter((column) => column.options.primary);
    for (const { mode, propertyName } of columns) {
      const meaning = TIME_MEANINGS[mode]?.(singularName(target));
      if (meaning !== undefined && !meaningOf(target, propertyName)) {
        Meaning(meaning)(target.prototype as object, propertyName);
      }
      if (mode === 'updateDate' && identifier && !isListedBy(target, propertyName)) {
        Index([propertyName, identifier.propertyName])(target);
      }
    }
  };
}

interface Declared {
  readonly name: string;
  readonly external: ExternalTable | undefined;
  readonly counted: readonly (readonly string[])[];
  readonly filtered: readonly string[];
  readonly sorted: readonly string[];
  readonly searched: readonly string[];
  readonly intervals: readonly CountedIntervals<string>[];
  readonly paths: readonly string[];
}

/** `undefined` for an entity that is not a resource, such as a deletion. */
function declaredOf({ target }: Pick<EntityMetadata, 'target'>): Declared | undefined {
  return typeof target === 'function'
    ? (Reflect.getMetadata(RESOURCE, target) as Declared | undefined)
    : undefined;
}

const NOTHING = {
  counted: [],
  filtered: [],
  sorted: [],
  searched: [],
  intervals: [],
  paths: [],
};

/** Empty for an entity that is not a resource. */
function declaredColumns(
  metadata: Pick<EntityMetadata, 'target'>,
): Pick<Declared, keyof ListColumns<string>> {
  return declaredOf(metadata) ?? NOTHING;
}

/** Whether the lists of an entity are filtered or sorted by a column, so that it has an index. */
export function isListedBy(target: EntityMetadata['target'], property: string): boolean {
  const { filtered, sorted } = declaredColumns({ target });
  return [...filtered, ...sorted].includes(property);
}

/** The default meanings of the times that TypeORM sets, by column mode. */
const TIME_MEANINGS: Readonly<Partial<Record<string, (object: string) => string>>> = {
  createDate: (object) => `When the ${object} was first stored.`,
  updateDate: (object) => `When the ${object} was changed last.`,
};

/** The name of one object of an entity: `order item` for the class `OrderItem`. */
function singularName({ name }: { name: string }): string {
  return name
    .replace(/Entity$/, '')
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')
    .toLowerCase();
}

/** The name of several objects of an entity: `order items` for the resource `order_items`. */
export function pluralName(entity: ObjectType<unknown>): string {
  const name = declaredOf({ target: entity })?.name ?? tableNameOf(entity);
  return (name ?? 'objects').replaceAll('_', ' ');
}

function tableNameOf(entity: ObjectType<unknown>): string | undefined {
  return getMetadataArgsStorage().tables.find(({ target }) => target === entity)?.name;
}

/**
 * The name of an entity's resource.
 *
 * @throws TypeError if it is not a `@Resource`
 */
export function resourceName(entity: ObjectType<unknown>): string {
  const declared = declaredOf({ target: entity });
  if (declared) return declared.name;
  throw new TypeError(`${entity.name} is not a @Resource`);
}

/** The name of an entity's resource; that of the table for an entity of deletions. */
export function nameOf(metadata: Pick<EntityMetadata, 'target' | 'tableName'>): string {
  return declaredOf(metadata)?.name ?? metadata.tableName;
}

/** The table of an entity in SQL, with its schema if it is that of others. */
export function tableOf(metadata: Pick<EntityMetadata, 'target' | 'tableName'>): string {
  const external = externalTableOf(metadata);
  return external ? quotedTable(external) : quotedName(metadata.tableName);
}

/** The table in SQL of an entity whose metadata is not built yet. */
export function tableOfEntity(entity: ObjectType<unknown>): string | undefined {
  const tableName = tableNameOf(entity);
  return tableName === undefined ? undefined : tableOf({ target: entity, tableName });
}

/** The table of others that a resource lists; `undefined` for a table of the service. */
export function externalTableOf(
  metadata: Pick<EntityMetadata, 'target'>,
): ExternalTable | undefined {
  return declaredOf(metadata)?.external;
}

/** The table of others that the resource of a name lists; `undefined` for a table of the service. */
export function externalTableNamed(resource: string): ExternalTable | undefined {
  return EXTERNAL.get(resource);
}

/** The table of the resource of a name in SQL, with its schema if it is that of others. */
export function tableNamed(resource: string): string {
  const external = externalTableNamed(resource);
  return external ? quotedTable(external) : quotedName(resource);
}

/** A table of others in SQL. */
export function quotedTable({ schema, name }: Pick<ExternalTable, 'schema' | 'name'>): string {
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

/** The resources of a data source, by name. */
export function resourcesOf(dataSource: DataSource): Map<string, EntityMetadata> {
  const resources = dataSource.entityMetadatas.filter(isResource);
  return new Map(resources.map((metadata) => [nameOf(metadata), metadata]));
}

/** Whether an entity is a resource. An entity of deletions is none. */
export function isResource(metadata: Pick<EntityMetadata, 'target'>): boolean {
  return declaredOf(metadata) !== undefined;
}

/** The columns and the combinations of columns whose values the tally counts. */
export function countedColumnsOf(
  metadata: Pick<EntityMetadata, 'target'>,
): readonly (readonly string[])[] {
  return declaredColumns(metadata).counted;
}

/** The columns whose values the tally counts by themselves, and not only in combinations. */
export function singleCountedColumnsOf(metadata: Pick<EntityMetadata, 'target'>): string[] {
  return countedColumnsOf(metadata).flatMap((names) => (names.length === 1 ? names : []));
}

/**
 * Whether a column has few values, as an enumeration or a boolean. As in the view `tally_orders`: the tallies of
 * sorted columns have the facets of such counted columns, too. The ranges of a rare value would span most of
 * an index.
 */
export function isBroad(metadata: EntityMetadata, name: string): boolean {
  const type = metadata.findColumnWithPropertyName(name)?.type;
  return type === 'enum' || type === 'boolean';
}

/** The intervals that the tally counts within the values of other columns. */
export function countedIntervalsOf(
  metadata: Pick<EntityMetadata, 'target'>,
): readonly CountedIntervals<string>[] {
  return declaredColumns(metadata).intervals;
}

/** The columns that filters compare, which the indexes of the lists carry. */
export function filteredColumnsOf(metadata: Pick<EntityMetadata, 'target'>): readonly string[] {
  return declaredColumns(metadata).filtered;
}

/** The columns that lists are sorted by, besides the identifier. */
export function sortedColumnsOf(metadata: Pick<EntityMetadata, 'target'>): readonly string[] {
  return declaredColumns(metadata).sorted;
}

/** The columns that lists search for words. */
export function searchedColumnsOf(metadata: Pick<EntityMetadata, 'target'>): readonly string[] {
  return declaredColumns(metadata).searched;
}

/** The values within columns that filters compare, by name. */
export function pathsOf(metadata: Pick<EntityMetadata, 'target'>): readonly string[] {
  return declaredColumns(metadata).paths;
}

/**
 * The column of a property.
 *
 * @throws TypeError if there is none
 */
export function columnOf(metadata: EntityMetadata, property: string): ColumnMetadata {
  const column = metadata.findColumnWithPropertyName(property);
  if (!column) throw new TypeError(`${metadata.tableName} has no column ${property}`);
  return column;
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
