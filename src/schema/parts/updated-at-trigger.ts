import type { EntityMetadata } from 'typeorm';
import { capabilitiesOf } from '../../resource/capabilities.js';
import { orMigration } from '../difference.js';
import type { Part } from './part.js';

/** The trigger that sets the time of the last change of an object. */
export const updatedAtTrigger: Part<true> = {
  isOf: (metadata) => capabilitiesOf(metadata).written && metadata.updateDateColumn !== undefined,

  async read(dataSource) {
    const rows = await dataSource.query<{ resource: string }[]>(
      `SELECT relname AS resource FROM pg_trigger
       JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
       WHERE relnamespace = current_schema()::regnamespace AND proname = 'keep_updated_at'`,
    );
    return new Map(rows.map(({ resource }) => [resource, true]));
  },

  differences(metadata, installed) {
    if (installed) return [];
    const column = metadata.updateDateColumn?.databaseName;
    const text = `${metadata.tableName} has no trigger that keeps ${column}`;
    return [{ text, remedy: orMigration(install(metadata)) }];
  },

  migrate(metadata, installed, { up }) {
    // It is dropped with its table.
    if (!installed) up.last.push(install(metadata));
  },
};

function install({ tableName: table }: EntityMetadata): string {
  return `CREATE TRIGGER "${table}_updated_at" BEFORE INSERT OR UPDATE ON "${table}" FOR EACH ROW EXECUTE FUNCTION "keep_updated_at"()`;
}
