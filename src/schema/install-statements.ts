import type { EntityMetadata } from 'typeorm';
import { identifierOf } from '../resource/resource.js';

/** The statement that creates the tally of a resource, or recreates it from the table. */
export function installTally(metadata: EntityMetadata, counted: readonly string[]): string {
  const { databaseName: identifier } = identifierOf(metadata);
  return `SELECT install_tally('${metadata.tableName}', '${identifier}', '{${counted.join(',')}}')`;
}

/** The statement that creates the table and triggers that record the deletions of a resource. */
export function installDeletions(metadata: EntityMetadata): string {
  const { databaseName: identifier } = identifierOf(metadata);
  return `SELECT install_deletions('${metadata.tableName}', '${identifier}')`;
}

/** The statement that creates the trigger that sets `updatedAt`. */
export function createUpdatedAtTrigger({ tableName: table }: EntityMetadata): string {
  return `CREATE TRIGGER "${table}_updated_at" BEFORE INSERT OR UPDATE ON "${table}" FOR EACH ROW EXECUTE FUNCTION "keep_updated_at"()`;
}

/** The statement that drops an index. */
export function dropIndex({ name }: { name: string }): string {
  return `DROP INDEX "${name}"`;
}
