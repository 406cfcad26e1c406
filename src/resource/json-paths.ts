import { getMetadataArgsStorage, type ObjectType } from 'typeorm';
import { declaredShape, type Shape } from './json-shape.js';
import { NAME_LENGTH } from './formats.js';

/** A single value within the objects of a column of type `jsonb`. */
export interface JsonPath {
  /** The column and the keys, such as `hours.monday.open`. */
  readonly name: string;
  /** The property of the column. */
  readonly column: string;
  readonly keys: readonly string[];
  readonly type: 'text' | 'number' | 'boolean';
}

/**
 * The path that a name means, such as `hours.monday.open`.
 *
 * @throws TypeError if the shape of the column has no single value there
 */
export function jsonPath(entity: ObjectType<unknown>, name: string): JsonPath {
  const [column = '', ...keys] = name.split('.');
  const isColumn = getMetadataArgsStorage()
    .filterColumns(entity)
    .some(({ propertyName }) => propertyName === column);
  const shape = isColumn ? declaredShape(entity, column).shape : undefined;
  const type = keys.length > 0 && shape ? typeAt(shape, keys) : undefined;
  if (!type) {
    throw new TypeError(
      `${entity.name} declares no text, number or boolean at ${name}, by a class of its column`,
    );
  }
  if (!keys.every((key) => PLAIN_KEY.test(key))) {
    throw new TypeError(
      `${name} of ${entity.name} is no path: its keys are letters, digits, _ and -`,
    );
  }
  return { name, column, keys, type };
}

/** A key needs no escapes in SQL, within an array of texts, nor for TypeORM, which finds `:name` in any text. */
const PLAIN_KEY = /^[\p{L}\p{N}_-]+$/u;

function typeAt(shape: Shape, keys: readonly string[]): JsonPath['type'] | undefined {
  const [key, ...others] = keys;
  if (shape.kind === 'list') return undefined;
  if (shape.kind === 'object') {
    const property = key === undefined ? undefined : shape.properties.get(key);
    return property && typeAt(property.shape, others);
  }
  if (key !== undefined || shape.type === undefined) return undefined;
  return shape.type === 'string' ? 'text' : shape.type === 'boolean' ? 'boolean' : 'number';
}

/** Maximum characters of a text that a filter by a path compares. */
export const PATH_LENGTH = NAME_LENGTH;

/**
 * The value at a path in SQL, as `pg_get_indexdef` writes it: null for one that is missing. A text is cut
 * behind the length that is compared, so that any text fits into an index. A value that is no number is
 * null where one is declared, so that another writer can store it.
 *
 * @param column the column in SQL
 */
export function pathExpression({ keys, type }: JsonPath, column: string): string {
  const path = `'{${keys.map((key) => `"${key}"`).join(',')}}'::text[]`;
  if (type !== 'number') {
    return `"left"((${column} #>> ${path}), ${PATH_LENGTH + 1}) COLLATE "C"`;
  }
  const value = `(${column} #> ${path})`;
  return `(CASE WHEN (jsonb_typeof(${value}) = 'number'::text) THEN (${value})::numeric ELSE NULL::numeric END)`;
}
