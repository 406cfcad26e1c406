import { getMetadataArgsStorage, type ObjectType } from 'typeorm';
import { COLUMN_TYPES } from './column-types.js';
import { countedColumnsOf } from './resource.js';

const NOT_COUNTABLE: ReadonlySet<unknown> = new Set(
  Object.values(COLUMN_TYPES).flatMap(({ flags, columnTypes }) =>
    (flags as readonly string[]).includes('counted') ? [] : columnTypes,
  ),
);

/**
 * Checks the counted columns of an entity. The tally compares values as text, so it would count 777.5 and
 * 777.50 apart.
 *
 * @throws TypeError for a column of a type whose equal values differ as text
 */
export function requireCountable(entity: ObjectType<unknown>): void {
  const counted = new Set(countedColumnsOf({ target: entity }).flat());
  for (const { propertyName, options } of getMetadataArgsStorage().filterColumns(entity)) {
    const type = `${String(options.type)}${options.array ? '[]' : ''}`;
    if (counted.has(propertyName) && NOT_COUNTABLE.has(type)) {
      throw new TypeError(`${entity.name} cannot count ${propertyName}, a column of type ${type}`);
    }
  }
}
