import { getMetadataArgsStorage, type ObjectType } from 'typeorm';

/** The fields of an entity that a query computes for each object that is shown: `@VirtualColumn`. */
export function computedFields(entity: ObjectType<unknown>): string[] {
  return getMetadataArgsStorage()
    .filterColumns(entity)
    .filter(({ mode }) => mode === 'virtual-property')
    .map(({ propertyName }) => propertyName);
}
