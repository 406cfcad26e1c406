import { getMetadataArgsStorage, type ObjectType } from 'typeorm';
import {
  countedColumnsOf,
  filteredColumnsOf,
  searchedColumnsOf,
  sortedColumnsOf,
} from './resource.js';

/** The fields of an entity that a query computes for each object that is shown: `@VirtualColumn`. */
export function computedFields(entity: ObjectType<unknown>): string[] {
  return getMetadataArgsStorage()
    .filterColumns(entity)
    .filter(({ mode }) => mode === 'virtual-property')
    .map(({ propertyName }) => propertyName);
}

/**
 * Checks the columns that `@Resource` names for indexes and the tally.
 *
 * @throws TypeError for a computed field, which neither can hold
 */
export function requireStored(entity: ObjectType<unknown>): void {
  const metadata = { target: entity };
  const named = new Set([
    ...countedColumnsOf(metadata).flat(),
    ...filteredColumnsOf(metadata),
    ...sortedColumnsOf(metadata),
    ...searchedColumnsOf(metadata),
  ]);
  const computed = computedFields(entity).find((name) => named.has(name));
  if (computed === undefined) return;
  throw new TypeError(
    `${entity.name} cannot count, filter, sort or search by ${computed}, which is computed for each object`,
  );
}
