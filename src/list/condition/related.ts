import type { ObjectType } from 'typeorm';
import { primaryColumnOf, resourceName, tableOfEntity } from '../../resource/resource.js';
import { type Written, written } from './from-typeorm.js';
import type { IdentifierQuery } from './identifier-query.js';

/** Values that columns of an entity must have: each the given one, or one of several. */
export type ColumnValues<Entity> = {
  readonly [Column in keyof Entity]?:
    NonNullable<Entity[Column]> | readonly NonNullable<Entity[Column]>[];
};

/**
 * A condition on a column that refers to a resource: it refers to an object whose columns have some values.
 *
 * @throws TypeError if the entity is not a `@Resource`, or no value is given
 */
export function related<Entity>(entity: ObjectType<Entity>, values: ColumnValues<Entity>): Written {
  const resource = resourceName(entity);
  const table = tableOfEntity(entity);
  const identifier = primaryColumnOf(entity)?.propertyName;
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw new TypeError(`related(${entity.name}) needs a value of a column`);
  const columns = given.map(([column]) => column);
  const query: IdentifierQuery = {
    resource,
    entity,
    columns,
    text: (expressions, visible) => {
      const equal = columns.map((column, at) => `"${column}" = ANY(${expressions[at]})`);
      return `SELECT "${identifier}" FROM ${table} target WHERE ${equal.join(' AND ')}${visible('target')}`;
    },
    values: given.map(([, value]): unknown => (Array.isArray(value) ? value : [value])),
  };
  return written('related', (column) => ({ kind: 'identifiers', column, query }));
}
