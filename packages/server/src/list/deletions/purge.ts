import type { DataSource, EntityMetadata } from 'typeorm';
import { nameOf } from '../../resource/resource.js';
import { deletionsTable, RETENTION } from './deletion.js';

/** Removes the deletions of a resource that are past their retention. */
export async function purgeDeletions(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<void> {
  await dataSource.query(
    `DELETE FROM ${deletionsTable(nameOf(metadata))}
     WHERE "deletedAt" < now() - interval '${RETENTION.days + RETENTION.extraDays} days'`,
  );
}
