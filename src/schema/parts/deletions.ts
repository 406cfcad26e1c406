import type { EntityMetadata } from 'typeorm';
import { recordedColumns } from '../../list/deletions/deletion.js';
import { ownResources } from '../../resource/own-table.js';
import { columnOf, identifierOf } from '../../resource/resource.js';
import { scopeOf } from '../../resource/visibility.js';
import { named, orMigration } from '../difference.js';
import { missingTriggers, namesArray, type Part, TRIGGERS } from './part.js';

/** The type of each column of a table, as `install_deletions` copies it. */
type ColumnTypes = Readonly<Partial<Record<string, string>>>;

interface InstalledDeletions {
  /** The columns of the deletions; null if they have no table. */
  readonly recorded: ColumnTypes | null;
  /** The columns of the resource. */
  readonly present: ColumnTypes | null;
  readonly triggers: readonly string[];
}

/** The deletions of a resource with a table of its own: their table, and the triggers that record them. */
export const deletions: Part<InstalledDeletions> = {
  async read(dataSource) {
    const rows = await dataSource.query<({ resource: string } & InstalledDeletions)[]>(
      `SELECT resource, ${typesOf(`resource || '_deletions'`)} AS recorded, ${typesOf('resource')} AS present,
         ${TRIGGERS} AS triggers
       FROM unnest($1::text[]) resource`,
      [[...ownResources(dataSource).keys()]],
    );
    return new Map(rows.map((row) => [row.resource, row]));
  },

  differences(metadata, installed) {
    const { tableName } = metadata;
    const { recorded = null, triggers = [] } = installed ?? {};
    const remedy = orMigration(install(metadata));
    const missing = missingTriggers(
      `${tableName}_deletions`,
      ['delete', 'rename', 'truncate'],
      triggers,
    );
    if (missing.length > 0) {
      return [{ text: `${tableName} has no trigger ${missing.join(', ')}`, remedy }];
    }
    if (!recorded) return [{ text: `${tableName} has no table ${tableName}_deletions`, remedy }];
    if (isAsDeclared(metadata, installed)) return [];
    const [there, wanted] = [installedColumns(metadata, recorded), deletionColumnsOf(metadata)].map(
      named,
    );
    const text = `the deletions of ${tableName} record ${there} of its columns, its scope names ${wanted}`;
    return [{ text: there === wanted ? `${text} of other types` : text, remedy }];
  },

  migrate(metadata, installed, { up, down }) {
    if (isAsDeclared(metadata, installed)) return;
    up.last.push(install(metadata));
    down.first.unshift(
      installed?.recorded
        ? install(metadata, installedColumns(metadata, installed.recorded))
        : `SELECT remove_deletions('${metadata.tableName}')`,
    );
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
  const { recorded, present } = installed ?? {};
  if (!recorded) return false;
  const declared = deletionColumnsOf(metadata);
  return (
    installedColumns(metadata, recorded).length === declared.length &&
    // Neither has a column that the same migration adds.
    declared.every((column) => column in recorded && recorded[column] === present?.[column])
  );
}

function install(
  metadata: EntityMetadata,
  columns: readonly string[] = deletionColumnsOf(metadata),
): string {
  const { databaseName: identifier } = identifierOf(metadata);
  const recorded = columns.length > 0 ? `, ${namesArray(columns)}` : '';
  return `SELECT install_deletions('${metadata.tableName}', '${identifier}'${recorded})`;
}
