import type { EntityMetadata } from 'typeorm';
import { identifierOf } from '../resource/resource.js';

/** The statement that makes a resource's tally, or makes it again from its rows. */
export function installTally(metadata: EntityMetadata, counted: readonly string[]): string {
  const { databaseName: identifier } = identifierOf(metadata);
  return `SELECT install_tally('${metadata.tableName}', '${identifier}', '{${counted.join(',')}}')`;
}

/** The statement that has a resource's deletions kept from then on. */
export function installDeletions(metadata: EntityMetadata): string {
  const { databaseName: identifier } = identifierOf(metadata);
  return `SELECT install_deletions('${metadata.tableName}', '${identifier}')`;
}

/** The statement that has `updatedAt` kept. */
export function createUpdatedAtTrigger({ tableName: table }: EntityMetadata): string {
  return `CREATE TRIGGER "${table}_updated_at" BEFORE INSERT OR UPDATE ON "${table}" FOR EACH ROW EXECUTE FUNCTION "keep_updated_at"()`;
}
