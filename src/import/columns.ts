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
}

/** The fields that a file can set: all except `updatedAt`, which a trigger sets, and computed ones. */
export function importedFields(metadata: EntityMetadata): ColumnMetadata[] {
  return fieldsOf(metadata).filter(
    ({ isUpdateDate, isVirtualProperty, generatedType }) =>
      !isUpdateDate && !isVirtualProperty && generatedType === undefined,
  );
}

/** Assigns the columns of a file to fields. */
export class ColumnPlan {
  /** The position of the column of each field, in the order of `importedFields`; undefined: none. */
  readonly positions: readonly (number | undefined)[];
  /** Columns of the file that are ignored. */
  readonly leftOut: readonly string[];
  /** Columns that match no field: an error, unless there is a `--map`. */
  readonly unknown: readonly string[];

  constructor(
    private readonly metadata: EntityMetadata,
    columns: readonly string[],
    { map, set }: Mapping,
  ) {
    const fields = importedFields(metadata);
    // A column that `--map` assigns to one field is not also assigned to another by its name.
    const mapped = new Set(map.values());
    const sources = fields.map(({ propertyName: field }) => {
      if (set.has(field)) return undefined;
      return map.get(field) ?? (mapped.has(field) ? undefined : field);
    });
    this.positions = sources.map((column) => {
      const position = column === undefined ? -1 : columns.indexOf(column);
      return position < 0 ? undefined : position;
    });
    const unused = columns.filter((column) => !sources.includes(column));
    const names = fieldsOf(metadata).map(({ propertyName }) => propertyName);
    this.unknown = map.size > 0 ? [] : unused.filter((column) => !names.includes(column));
    this.leftOut = unused.filter((column) => !this.unknown.includes(column));
  }

  /** The problem with these columns, reported for a line; undefined if there is none. */
  problem(line: number): Problem | undefined {
    const [unknown] = this.unknown;
    if (unknown !== undefined) {
      const names = fieldsOf(this.metadata).map(({ propertyName }) => propertyName);
      const message = `names no field of ${this.metadata.tableName}; its fields are ${names.join(', ')}`;
      return { line, column: unknown, message };
    }
    const identifier = identifierOf(this.metadata);
    const at = importedFields(this.metadata).indexOf(identifier);
    if (this.positions[at] !== undefined) return undefined;
    return { line, message: `there is no column for ${identifier.propertyName}` };
  }
}

/** @throws CommandError if a mapping names a field that cannot be imported, or one field twice */
export function checkMapping(metadata: EntityMetadata, { map, set }: Mapping): void {
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
  if (set.has(identifier))
    throw new CommandError(`--set cannot give every row the same ${identifier}`);
}
