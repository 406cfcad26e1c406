import type { DataSource } from 'typeorm';
import { deletionsTable, RETENTION } from './deletion.js';

/** Removes the deletions of a resource that are past their retention. */
export async function purgeDeletions(dataSource: DataSource, resource: string): Promise<void> {
  await dataSource.query(
    `DELETE FROM ${deletionsTable(resource)}
     WHERE "deletedAt" < now() - interval '${RETENTION.days + RETENTION.extraDays} days'`,
  );
}
