import { getMetadataArgsStorage, type ObjectType } from 'typeorm';
import { declaredOf } from '../../resource/declaration.js';
import { namedColumn } from '../../resource/resource.js';
import type { EntityColumn } from '../../resource/visibility.js';
import { type ParameterSettings, parametersOf, schemaOf } from './declared-parameters.js';

const ENTITY = Symbol('entity');

/** A query class. */
interface Query {
  readonly name: string;
  readonly prototype: object;
}

/** Sets the entity of a query class. */
export function setEntity(query: object, entity: ObjectType<unknown>): void {
  Reflect.defineMetadata(ENTITY, entity, query);
}

/** The entity of a query class; `undefined` for a class without `@QueryOf`. */
export function entityOf(query: object): ObjectType<unknown> | undefined {
  return Reflect.getMetadata(ENTITY, query) as ObjectType<unknown> | undefined;
}

/**
 * The columns that a parameter reads: those that it says, or else the one that its name says. `undefined`: it says none,
 * so that it may read any.
 *
 * @throws TypeError if it says a column that there is not
 */
export function columnsRead(query: Query, name: string): readonly EntityColumn[] | undefined {
  const entity = entityOf(query);
  const { reads } = parametersOf(query).get(name) ?? {};
  if (!reads) {
    const named = entity && namedColumn(entity, name);
    return named && [[entity, named.column]];
  }
  return reads.map((each) => {
    const column = columnNamed(entity, each);
    if (column) return column;
    throw new TypeError(`${query.name}.${name} reads ${each}, which is no column`);
  });
}

/** @param name such as `price`, of the entity, or `variants.price` */
function columnNamed(entity: object | undefined, name: string): EntityColumn | undefined {
  const [property, resource] = name.split('.').reverse();
  const found = getMetadataArgsStorage().columns.find(
    ({ target, propertyName }) =>
      propertyName === property &&
      (resource === undefined ? target === entity : declaredOf({ target })?.name === resource),
  );
  return found && [found.target as object, found.propertyName];
}

/**
 * Whether a client may send a parameter to an endpoint: the query class declares it, and the client sees every column that
 * it reads, and something that it may name.
 */
export function isAllowed(query: Query, name: string, settings: ParameterSettings): boolean {
  const parameter = parametersOf(query).get(name);
  const { rights } = settings;
  if (!parameter || !rights.isRestricted) return parameter !== undefined;
  if (schemaOf(parameter, settings).items?.enum?.length === 0) return false;
  return columnsRead(query, name)?.every((column) => rights.sees(...column)) ?? false;
}
