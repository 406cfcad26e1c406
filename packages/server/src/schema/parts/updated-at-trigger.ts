import type { EntityMetadata } from 'typeorm';
import { MIGRATE } from '../difference.js';
import type { Part } from './part.js';

/** The trigger that sets the time of the last change of an object, with the column that it sets. */
export const updatedAtTrigger: Part<string> = {
  async read(queries) {
    const rows = await queries.query<{ resource: string; column: string }[]>(
      `SELECT relname AS resource,
         coalesce(nullif(split_part(encode(tgargs, 'escape'), '\\000', 1), ''), '${DEFAULT_COLUMN}') AS column
       FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
       WHERE relnamespace = current_schema()::regnamespace AND proname = 'keep_updated_at'`,
    );
    return new Map(rows.map(({ resource, column }) => [resource, column]));
  },

  differences(metadata, installed) {
    if (installed !== undefined && !metadata.updateDateColumn) {
      const text = `${metadata.tableName} has a trigger that keeps ${installed}, its entity has no such time`;
      return [{ text, remedy: MIGRATE, isSurplus: true }];
    }
    const column = lackingColumn(metadata, installed);
    if (column === undefined) return [];
    return [{ text: `${metadata.tableName} has no trigger that keeps ${column}`, remedy: MIGRATE }];
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
function lackingColumn(metadata: EntityMetadata, installed: string | undefined) {
  const column = metadata.updateDateColumn?.databaseName;
  return column === installed ? undefined : column;
}
