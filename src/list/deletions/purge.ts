import type { DataSource } from 'typeorm';
import { deletionsTable, KEPT } from './deletion.js';

/** Forgets the deletions of a resource that nobody is told of any more. */
export async function purgeDeletions(dataSource: DataSource, resource: string): Promise<void> {
  await dataSource.query(
    `DELETE FROM ${deletionsTable(resource)}
     WHERE "deletedAt" < now() - interval '${KEPT.days + KEPT.more} days'`,
  );
}
