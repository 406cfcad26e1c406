import {
  type DataSource,
  Entity,
  type EntityMetadata,
  getMetadataArgsStorage,
  Index,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { Meaning, meaningOf } from './meaning.js';

const RESOURCE = Symbol('resource');

/**
 * An entity that is listed, imported and exported under the name of its table, which is its path.
 * A column that TypeORM sets at each update gets an index, for the filter `updatedSince`.
 *
 * @param options.counted columns whose values the tally counts: a list filtered by one value of one
 * of them has its count, and any page, at a constant cost. The migration passes the same names to
 * `install_tally`.
 */
export function Resource<const Column extends string = never>(
  name: string,
  options: { counted?: readonly Column[] } = {},
): (target: new () => Record<Column, unknown>) => void {
  return (target) => {
    Entity(name)(target);
    Reflect.defineMetadata(RESOURCE, options.counted ?? [], target);
    const columns = getMetadataArgsStorage().filterColumns(target);
    const [identifier] = columns.filter((column) => column.options.primary);
    for (const { mode, propertyName } of columns) {
      const meaning = TIME_MEANINGS[mode]?.(singularName(target));
      if (meaning !== undefined && !meaningOf(target, propertyName)) {
        Meaning(meaning)(target.prototype as object, propertyName);
      }
      if (mode === 'updateDate' && identifier) {
        Index([propertyName, identifier.propertyName])(target);
      }
    }
  };
}

/** What the times mean that TypeORM sets, by the mode of their column. */
const TIME_MEANINGS: Readonly<Partial<Record<string, (object: string) => string>>> = {
  createDate: (object) => `When the ${object} was first stored.`,
  updateDate: (object) => `When the ${object} was changed last.`,
};

/** What one object of an entity is called: `order item` for the class `OrderItem`. */
function singularName({ name }: { name: string }): string {
  return name
    .replace(/Entity$/, '')
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')
    .toLowerCase();
}

/** What the objects of an entity are called: `order items` for the table `order_items`. */
export function pluralName(entity: unknown): string {
  const table = getMetadataArgsStorage().tables.find(({ target }) => target === entity);
  return (table?.name ?? 'objects').replaceAll('_', ' ');
}

/** Every resource of a data source, by name. */
export function resourcesOf(dataSource: DataSource): Map<string, EntityMetadata> {
  const resources = dataSource.entityMetadatas.filter(
    ({ target }) => typeof target === 'function' && Reflect.hasMetadata(RESOURCE, target),
  );
  return new Map(resources.map((metadata) => [metadata.tableName, metadata]));
}

/** The columns of which a resource's tally counts each value. */
export function countedColumnsOf({ target }: EntityMetadata): readonly string[] {
  return Reflect.getMetadata(RESOURCE, target) as readonly string[];
}

/** A resource's public columns, in the order declared. */
export function fieldsOf(metadata: EntityMetadata): ColumnMetadata[] {
  return metadata.columns.filter(({ isSelect }) => isSelect);
}

/**
 * The column that identifies a resource's objects.
 *
 * @throws TypeError for an entity with a composite primary key, or none
 */
export function identifierOf(metadata: EntityMetadata): ColumnMetadata {
  const [column, ...others] = metadata.primaryColumns;
  if (!column || others.length > 0) {
    throw new TypeError(`The resource ${metadata.tableName} needs exactly one primary column`);
  }
  return column;
}
