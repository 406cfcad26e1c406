import type { EntityMetadata } from 'typeorm';
import { MIGRATE } from '../difference.js';
import { lackingTriggers, type Part } from './part.js';

interface InstalledTrigger {
  /** The column that it sets. */
  readonly column: string;
  readonly lacking: readonly string[];
}

/** The trigger that sets the time of the last change of an object. */
export const updatedAtTrigger: Part<InstalledTrigger> = {
  async read(queries, resources) {
    const rows = await queries.query<({ resource: string } & InstalledTrigger)[]>(
      `SELECT resource, ${lackingTriggers('updated_at')} AS lacking,
         coalesce(nullif(split_part(encode(tgargs, 'escape'), '\\000', 1), ''), '${DEFAULT_COLUMN}') AS column
       FROM unnest($1::text[]) resource
       JOIN pg_trigger ON tgrelid = to_regclass(quote_ident(resource)) AND tgname = resource || '_updated_at'
       JOIN pg_proc ON pg_proc.oid = tgfoid AND proname = 'keep_updated_at'`,
      [resources],
    );
    return new Map(rows.map((row) => [row.resource, row]));
  },

  differences(metadata, installed) {
    if (installed !== undefined && !metadata.updateDateColumn) {
      const text = `${metadata.tableName} has a trigger that keeps ${installed.column}, its entity has no such time`;
      return [{ text, remedy: MIGRATE, isSurplus: true }];
    }
    const column = lackingColumn(metadata, installed);
    if (column === undefined) return [];
    return [
      {
        text: `${metadata.tableName} has no working trigger that keeps ${column}`,
        remedy: MIGRATE,
      },
    ];
  },

  statements(metadata, installed, exact) {
    const { tableName: table } = metadata;
    const isSurplus = installed !== undefined && !metadata.updateDateColumn;
    if (isSurplus && exact) return [`DROP TRIGGER "${table}_updated_at" ON "${table}"`];
    const column = lackingColumn(metadata, installed);
    if (column === undefined) return [];
    const argument = column === DEFAULT_COLUMN ? '' : `'${column}'`;
    return [
      `CREATE OR REPLACE TRIGGER "${table}_updated_at" BEFORE INSERT OR UPDATE ON "${table}" FOR EACH ROW EXECUTE FUNCTION "keep_updated_at"(${argument})`,
    ];
  },
};

/** The column that the trigger sets without an argument. */
const DEFAULT_COLUMN = 'updatedAt';

/** The column that no trigger keeps; `undefined` if there is none. */
function lackingColumn(metadata: EntityMetadata, installed: InstalledTrigger | undefined) {
  const column = metadata.updateDateColumn?.databaseName;
  return column === installed?.column && !installed?.lacking.length ? undefined : column;
}
