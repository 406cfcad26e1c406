import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { fieldsOf, identifierOf } from '../resource/resource.js';
import { CommandError } from '../command-error.js';
import type { Problem } from './invalid-rows.js';

/** The sources of fields whose values do not come from the column of the same name. */
export interface Mapping {
  /** The column of the file for a field, by field. */
  readonly map: ReadonlyMap<string, string>;
  /** A constant value for every row, by field. */
  readonly set: ReadonlyMap<string, string>;
  /** Whether the rows are identified by their numbers, from 1. */
  readonly number?: boolean;
}

/** The fields that a file can set: all except `updatedAt`, which a trigger sets, and computed ones. */
export function importedFields(metadata: EntityMetadata): ColumnMetadata[] {
  return fieldsOf(metadata).filter(
    ({ isUpdateDate, isVirtualProperty, generatedType }) =>
      !isUpdateDate && !isVirtualProperty && generatedType === undefined,
  );
}

/** Whether a row may leave a column empty: it may be null, or the database has a value for it. */
export function hasNull({ isNullable, isCreateDate, default: value }: ColumnMetadata): boolean {
  return isNullable || isCreateDate || value !== undefined;
}

/** How the columns of a file are assigned to fields. */
export interface ColumnPlan {
  /** The position of the column of each field, in the order of `importedFields`; undefined: none. Or `NUMBER`. */
  readonly positions: readonly (number | undefined)[];
  /** Columns of the file that are ignored. */
  readonly leftOut: readonly string[];
  /** What is wrong with the columns; undefined: nothing. */
  readonly problem: Omit<Problem, 'line'> | undefined;
}

/** In place of a position: the number of the row. */
export const NUMBER = -1;

/** Assigns the columns of a file to fields. One that matches no field is a problem, unless there is a `--map`. */
export function planColumns(
  metadata: EntityMetadata,
  columns: readonly string[],
  { map, set, number = false }: Mapping,
): ColumnPlan {
  const fields = importedFields(metadata);
  const identifier = identifierOf(metadata);
  const { propertyName: key } = identifier;
  // A column that `--map` assigns to one field is not also assigned to another by its name.
  const mapped = new Set(map.values());
  const sources = fields.map(({ propertyName: field }) => {
    if (set.has(field) || (number && field === key)) return undefined;
    return map.get(field) ?? (mapped.has(field) ? undefined : field);
  });
  const positions = sources.map((column, at) => {
    if (number && fields[at] === identifier) return NUMBER;
    const position = column === undefined ? -1 : columns.indexOf(column);
    return position < 0 ? undefined : position;
  });
  const leftOut = columns.filter((column) => !sources.includes(column));
  const names = fieldsOf(metadata).map(({ propertyName }) => propertyName);
  const unknown = map.size > 0 ? undefined : leftOut.find((column) => !names.includes(column));
  if (unknown !== undefined) {
    const message = `names no field of ${metadata.tableName}; its fields are ${names.join(', ')}`;
    return { positions, leftOut, problem: { column: unknown, message } };
  }
  if (number && leftOut.includes(key)) {
    const message = 'stands in the file, which --number would number';
    return { positions, leftOut, problem: { column: key, message } };
  }
  const isIdentified = positions[fields.indexOf(identifier)] !== undefined;
  const message = `there is no column for ${key}`;
  return { positions, leftOut, problem: isIdentified ? undefined : { message } };
}

/** @throws CommandError if a mapping names a field that cannot be imported, or one field twice */
export function checkMapping(metadata: EntityMetadata, { map, set, number }: Mapping): void {
  const fields = importedFields(metadata).map(({ propertyName }) => propertyName);
  for (const field of [...map.keys(), ...set.keys()]) {
    if (fields.includes(field)) continue;
    throw new CommandError(
      `${field} is no field of ${metadata.tableName} that can be imported; these are: ${fields.join(', ')}`,
    );
  }
  const twice = [...map.keys()].find((field) => set.has(field));
  if (twice !== undefined) throw new CommandError(`${twice} is set by both --map and --set`);
  const { propertyName: identifier } = identifierOf(metadata);
  if (number && map.has(identifier))
    throw new CommandError(`${identifier} is set by both --number and --map`);
  if (set.has(identifier))
    throw new CommandError(`--set cannot give every row the same ${identifier}`);
}
