import { orMigration } from '../difference.js';
import type { Part } from './part.js';

/** The trigger that sets the time of the last change of an object, with the column that it sets. */
export const updatedAtTrigger: Part<string> = {
  async read(dataSource) {
    const rows = await dataSource.query<{ resource: string; column: string }[]>(
      `SELECT relname AS resource,
         coalesce(nullif(split_part(encode(tgargs, 'escape'), '\\000', 1), ''), '${DEFAULT_COLUMN}') AS column
       FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
       WHERE relnamespace = current_schema()::regnamespace AND proname = 'keep_updated_at'`,
    );
    return new Map(rows.map(({ resource, column }) => [resource, column]));
  },

  differences(metadata, installed) {
    const { tableName: table } = metadata;
    const column = metadata.updateDateColumn?.databaseName;
    if (column === undefined || installed === column) return [];
    const text = `${table} has no trigger that keeps ${column}`;
    return [{ text, remedy: orMigration(install(table, column, installed !== undefined)) }];
  },

  migrate(metadata, installed, { up, down }) {
    const { tableName: table } = metadata;
    const column = metadata.updateDateColumn?.databaseName;
    if (column === undefined || installed === column) return;
    up.last.push(install(table, column, installed !== undefined));
    // A new one is dropped with its table.
    if (installed !== undefined) down.last.push(install(table, installed, true));
  },
};

/** The column that the trigger sets without an argument. */
const DEFAULT_COLUMN = 'updatedAt';

function install(table: string, column: string, isThere: boolean): string {
  const create = isThere ? 'CREATE OR REPLACE' : 'CREATE';
  const argument = column === DEFAULT_COLUMN ? '' : `'${column}'`;
  return `${create} TRIGGER "${table}_updated_at" BEFORE INSERT OR UPDATE ON "${table}" FOR EACH ROW EXECUTE FUNCTION "keep_updated_at"(${argument})`;
}
