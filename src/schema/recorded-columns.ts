import type { DataSource, EntityMetadata } from 'typeorm';
import { deletionColumnsOf } from './install-statements.js';
import { identifierOf, ownResourcesOf } from '../resource/resource.js';

/** What the deletions of a resource record besides the identifier. */
export interface RecordedColumns {
  /** The columns of their table. */
  readonly installed: readonly string[];
  /** Whether they are those of the entity's scope, with the types of the resource. */
  readonly areAsDeclared: boolean;
}

/** The columns that deletions record, by resource. Those without a table are missing. */
export async function recordedColumnsOf(
  dataSource: DataSource,
): Promise<Map<string, RecordedColumns>> {
  const tables = await columnsByTable(dataSource);
  const found = new Map<string, RecordedColumns>();
  for (const [resource, metadata] of ownResourcesOf(dataSource)) {
    const recorded = tables.get(`${resource}_deletions`);
    if (recorded) found.set(resource, compared(metadata, recorded, tables.get(resource)));
  }
  return found;
}

type Types = ReadonlyMap<string, string>;

function compared(
  metadata: EntityMetadata,
  recorded: Types,
  present: Types = new Map(),
): RecordedColumns {
  const own = [identifierOf(metadata).databaseName, 'deletedAt'];
  const installed = [...recorded.keys()].filter((column) => !own.includes(column));
  const declared = deletionColumnsOf(metadata);
  const areAsDeclared =
    installed.length === declared.length &&
    declared.every((column) => recorded.get(column) === present.get(column));
  return { installed, areAsDeclared };
}

/** The type of each column of each table, as `install_deletions` copies it. */
async function columnsByTable(dataSource: DataSource): Promise<Map<string, Map<string, string>>> {
  const rows = await dataSource.query<{ table: string; column: string; type: string }[]>(
    `SELECT relname AS table, attname AS column,
       CASE typtype WHEN 'e' THEN 'text' ELSE format_type(atttypid, -1) END AS type
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_type ON pg_type.oid = atttypid
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
     AND attnum > 0 AND NOT attisdropped ORDER BY relname, attnum`,
  );
  const tables = new Map<string, Map<string, string>>();
  for (const { table, column, type } of rows) {
    const columns = tables.get(table) ?? new Map<string, string>();
    tables.set(table, columns.set(column, type));
  }
  return tables;
}
