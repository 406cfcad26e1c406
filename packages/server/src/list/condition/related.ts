import type { EntityMetadata, ObjectType } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { isTextIdentifier } from '../../resource/formats.js';
import {
  columnOf,
  hasOwnTable,
  identifierOf,
  resourceName,
  tableOf,
} from '../../resource/resource.js';
import { parentColumnOf, referringColumn } from '../../resource/relations.js';
import type { IdentifierQuery } from './condition.js';
import { ListOperator } from './from-typeorm.js';
import { sqlEach } from './print.js';

/** Values that columns of an entity must have: each the given one, or one of several. */
type ColumnValues<Entity> = {
  readonly [Column in keyof Entity]?:
    NonNullable<Entity[Column]> | readonly NonNullable<Entity[Column]>[];
};

/**
 * A condition on a column that refers to a resource: it refers to an object whose columns have some values.
 *
 * @throws TypeError if the entity is not a `@Resource`, or no value is given
 */
export function related<Entity>(
  entity: ObjectType<Entity>,
  values: ColumnValues<Entity>,
): ListOperator {
  const query = withValues('related', entity, values);
  return lookedUp('related', entity, (metadata) => query(metadata, identifierOf(metadata)));
}

/**
 * A condition on the identifier of a resource that another one refers to: some object of the other, a child, refers to it,
 * and has some values in its columns. Several conditions are met by one child.
 *
 * `listOf` throws a TypeError if the condition is on another column, or if the entity has not exactly one `@ForeignKey`
 * to the resource.
 *
 * @throws TypeError if the entity is not a `@Resource`, or no value is given
 */
export function having<Entity>(
  entity: ObjectType<Entity>,
  values: ColumnValues<Entity>,
): ListOperator {
  const query = withValues('having', entity, values);
  return lookedUp('having', entity, (metadata, parent, column) => {
    const { propertyName: identifier } = identifierOf(parent);
    if (column !== identifier) {
      throw new TypeError(
        `having(${entity.name}) is a condition on ${identifier}, not on ${column}`,
      );
    }
    const selected = referringColumn(metadata, parent);
    return { ...query(metadata, selected), isOfListed: hasOwnTable(metadata) };
  });
}

/** Makes a query for a column of the objects whose columns have some values. */
function withValues<Entity>(
  name: string,
  entity: ObjectType<Entity>,
  values: ColumnValues<Entity>,
): (metadata: EntityMetadata, selected: ColumnMetadata) => Omit<IdentifierQuery, 'metadata'> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw new TypeError(`${name}(${entity.name}) needs a value of a column`);
  return (metadata, { databaseName: selected }) => ({
    selected,
    columns: given.map(([property]) => columnOf(metadata, property).databaseName),
    text: (parameters, visible) => {
      const equal = sqlEach(
        given.map(([column, value]) => ({ kind: 'equal', column, values: [value].flat() })),
        { metadata, values: parameters, table: 'target' },
      );
      // One null would make NOT IN unknown for every object.
      return `SELECT "${selected}" FROM ${tableOf(metadata)} target
        WHERE "${selected}" IS NOT NULL AND ${equal.join(' AND ')}${visible('target')}`;
    },
  });
}

/**
 * A condition on a column that refers to a resource, or on the identifier of that resource: it is one of
 * some objects, or an object below one of them, at any depth.
 *
 * @param entity refers to itself with an `@ForeignKey`: otherwise, `listOf` throws a TypeError
 * @param roots identifiers
 * @throws TypeError if the entity is not a `@Resource`
 */
export function within<Entity>(
  entity: ObjectType<Entity>,
  roots: readonly (string | number)[],
): ListOperator {
  return lookedUp('within', entity, (metadata) => {
    const parent = parentColumnOf(metadata);
    if (parent === undefined) {
      throw new TypeError(`${entity.name} has no @ForeignKey to itself, so it is not a tree`);
    }
    const table = tableOf(metadata);
    const { databaseName: identifier, type } = identifierOf(metadata);
    const sqlType = isTextIdentifier(type) ? 'text' : String(type);
    return {
      columns: [parent],
      selected: identifier,
      // UNION ends it also in a cycle.
      text: (values, visible) => `WITH RECURSIVE subtree(id) AS (
        SELECT root."${identifier}" FROM ${table} root
        WHERE root."${identifier}" = ANY(CAST(${values.add(roots)} AS ${sqlType}[]))${visible('root')}
        UNION
        SELECT child."${identifier}" FROM ${table} child
        JOIN subtree ON child."${parent}" = subtree.id${visible('child')}
      ) SELECT id FROM subtree`,
    };
  });
}

/** A condition that a column has one of the identifiers that a query finds. */
function lookedUp(
  name: string,
  entity: ObjectType<unknown>,
  queryOf: (
    metadata: EntityMetadata,
    listed: EntityMetadata,
    column: string,
  ) => Omit<IdentifierQuery, 'metadata'>,
): ListOperator {
  // Another entity has no version, so that a change of it would not change the list.
  resourceName(entity);
  return new ListOperator(name, (column, listed) => {
    const metadata = listed.dataSource.getMetadata(entity);
    return [
      { kind: 'identifiers', column, query: { metadata, ...queryOf(metadata, listed, column) } },
    ];
  });
}
