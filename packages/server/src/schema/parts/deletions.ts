import type { EntityMetadata } from 'typeorm';
import { recordedColumns } from '../../list/deletions/deletions.js';
import { columnOf, identifierOf } from '../../resource/resource.js';
import { scopeOf } from '../../resource/visibility.js';
import { MIGRATE, named } from '../difference.js';
import { lackingTriggers, namesArray, namesBeside, type Part } from './part.js';

/** The type of each column of a table, as `install_deletions` copies it. */
type ColumnTypes = Readonly<Partial<Record<string, string>>>;

interface InstalledDeletions {
  /** The columns of the deletions; null if they have no table. */
  readonly recorded: ColumnTypes | null;
  /** The columns of the resource. */
  readonly present: ColumnTypes | null;
  readonly lacking: readonly string[];
}

/** The deletions of a resource with a table of its own: their table, and the triggers that record them. */
export const deletions: Part<InstalledDeletions> = {
  async read(queries, resources) {
    const rows = await queries.query<({ resource: string } & InstalledDeletions)[]>(
      `SELECT resource, ${typesOf(`resource || '_deletions'`)} AS recorded, ${typesOf('resource')} AS present,
         ${lackingTriggers('deletions')} AS lacking
       FROM unnest($1::text[]) resource`,
      [resources],
    );
    return new Map(rows.map((row) => [row.resource, row]));
  },

  differences(metadata, installed) {
    const { tableName } = metadata;
    const { recorded = null, lacking = [] } = installed ?? {};
    const remedy = MIGRATE;
    if (lacking.length > 0) {
      return [{ text: `${tableName} has no working trigger ${lacking.join(', ')}`, remedy }];
    }
    if (!recorded) return [{ text: `${tableName} has no table ${tableName}_deletions`, remedy }];
    if (isAsDeclared(metadata, installed)) return [];
    const [there, wanted] = [installedColumns(metadata, recorded), deletionColumnsOf(metadata)].map(
      named,
    );
    const text = `the deletions of ${tableName} record ${there} of its columns, its scope names ${wanted}`;
    const isSurplus = covers(metadata, installed);
    return [
      {
        text: there === wanted ? `${text} of other types` : text,
        remedy,
        ...(isSurplus && { isSurplus }),
      },
    ];
  },

  statements(metadata, installed, exact) {
    const { recorded, lacking } = installed ?? {};
    const isWhole = lacking?.length === 0;
    if (isWhole && (exact ? isAsDeclared(metadata, installed) : covers(metadata, installed)))
      return [];
    const declared = deletionColumnsOf(metadata);
    const present = installed?.present ?? {};
    const further =
      exact || !recorded ? [] : namesBeside(installedColumns(metadata, recorded), declared);
    return [install(metadata, [...declared, ...further.filter((name) => name in present)])];
  },
};

/** An SQL expression for the `ColumnTypes` of a table; null if there is none. */
function typesOf(table: string): string {
  return `(
    SELECT json_object_agg(attname, CASE typtype WHEN 'e' THEN 'text' ELSE format_type(atttypid, -1) END ORDER BY attnum)
    FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
    WHERE attrelid = to_regclass(quote_ident(${table})) AND attnum > 0 AND NOT attisdropped
  )`;
}

/** The columns that the deletions of a resource record besides the identifier, according to its entity. */
function deletionColumnsOf(metadata: EntityMetadata): string[] {
  return recordedColumns(scopeOf(metadata), identifierOf(metadata).propertyName).map(
    (name) => columnOf(metadata, name).databaseName,
  );
}

/** The recorded columns that are installed. */
function installedColumns(metadata: EntityMetadata, recorded: ColumnTypes): string[] {
  const own = [identifierOf(metadata).databaseName, 'deletedAt'];
  return Object.keys(recorded).filter((column) => !own.includes(column));
}

/** Whether the columns are those of the entity's scope, with the types of the resource. */
function isAsDeclared(metadata: EntityMetadata, installed?: InstalledDeletions): boolean {
  const count = installedColumns(metadata, installed?.recorded ?? {}).length;
  return count === deletionColumnsOf(metadata).length && covers(metadata, installed);
}

/** Whether the columns of the entity's scope are among them, with the types of the resource. */
function covers(metadata: EntityMetadata, installed?: InstalledDeletions): boolean {
  const { recorded, present } = installed ?? {};
  if (!recorded) return false;
  const areThere = installedColumns(metadata, recorded).every(
    (column) => column in (present ?? {}),
  );
  return (
    areThere &&
    deletionColumnsOf(metadata).every(
      (column) => column in recorded && recorded[column] === present?.[column],
    )
  );
}

function install(metadata: EntityMetadata, columns: readonly string[]): string {
  const { databaseName: identifier } = identifierOf(metadata);
  const recorded = columns.length > 0 ? `, ${namesArray(columns)}` : '';
  return `SELECT install_deletions('${metadata.tableName}', '${identifier}'${recorded})`;
}
