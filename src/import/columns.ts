import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { fieldsOf, identifierOf } from '../resource/resource.js';
import { CommandError } from '../command-error.js';
import type { Problem } from './problems.js';

/** Where the values of a resource's fields come from, if not from the column of the same name. */
export interface Mapping {
  /** The file's column by field. */
  readonly map: ReadonlyMap<string, string>;
  /** One value for every row, by field. */
  readonly set: ReadonlyMap<string, string>;
}

/** The fields of a resource that a file can give: all but the time that the database keeps itself. */
export function importedFields(metadata: EntityMetadata): ColumnMetadata[] {
  return fieldsOf(metadata).filter(({ isUpdateDate }) => !isUpdateDate);
}

/** Which columns of a file go into which fields. */
export class ColumnPlan {
  /** By field: the position of its column, undefined where the file has none. */
  readonly positions: readonly (number | undefined)[];
  /** The columns of the file that no field takes. */
  readonly leftOut: readonly string[];
  /** The columns that name no field although no `--map` says that there may be such. */
  readonly unknown: readonly string[];

  constructor(
    private readonly metadata: EntityMetadata,
    columns: readonly string[],
    { map, set }: Mapping,
  ) {
    const fields = importedFields(metadata);
    // What `--map` gives to one field is not given to another by its name.
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

  /** What is wrong with these columns on a line that has them. */
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

/** Refuses a mapping that the resource or a CSV file's header cannot satisfy, by name. */
export function checkMapping(metadata: EntityMetadata, { map, set }: Mapping): void {
  const fields = importedFields(metadata).map(({ propertyName }) => propertyName);
  for (const field of [...map.keys(), ...set.keys()]) {
    if (fields.includes(field)) continue;
    throw new CommandError(
      `${field} is no field of ${metadata.tableName} that can be imported; these are: ${fields.join(', ')}`,
    );
  }
  const twice = [...map.keys()].find((field) => set.has(field));
  if (twice !== undefined) throw new CommandError(`${twice} is given by both --map and --set`);
  const { propertyName: identifier } = identifierOf(metadata);
  if (set.has(identifier))
    throw new CommandError(`--set cannot give every row the same ${identifier}`);
}
