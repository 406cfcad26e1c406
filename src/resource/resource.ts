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
 * Declares an entity that is listed, imported and exported. An `@UpdateDateColumn` gets an index, for
 * the filter `updatedSince`.
 *
 * @param name the name of the resource, its path and its table
 * @param options.counted columns whose values the tally counts. A list that is filtered by one value of
 * one of them takes its count and the position of an offset from the tally, without reading every
 * matching object. The migration passes the same names to `install_tally`.
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

/** The name of several objects of an entity: `order items` for the table `order_items`. */
export function pluralName(entity: unknown): string {
  const table = getMetadataArgsStorage().tables.find(({ target }) => target === entity);
  return (table?.name ?? 'objects').replaceAll('_', ' ');
}

/** The resources of a data source, by name. */
export function resourcesOf(dataSource: DataSource): Map<string, EntityMetadata> {
  const resources = dataSource.entityMetadatas.filter(
    ({ target }) => typeof target === 'function' && Reflect.hasMetadata(RESOURCE, target),
  );
  return new Map(resources.map((metadata) => [metadata.tableName, metadata]));
}

/** The columns of a resource whose values the tally counts. */
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
 * @throws TypeError if the entity has no primary key or a composite one
 */
export function identifierOf(metadata: EntityMetadata): ColumnMetadata {
  const [column, ...others] = metadata.primaryColumns;
  if (!column || others.length > 0) {
    throw new TypeError(`The resource ${metadata.tableName} needs exactly one primary column`);
  }
  return column;
}
