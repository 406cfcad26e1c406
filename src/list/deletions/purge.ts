import type { DataSource } from 'typeorm';
import { deletionsTable, KEPT } from './deletion.js';

/** Forgets the deletions that nobody is told of any more. */
export async function purgeDeletions(
  dataSource: DataSource,
  resources: Iterable<string>,
): Promise<void> {
  for (const resource of resources) {
    await dataSource.query(
      `DELETE FROM ${deletionsTable(resource)}
       WHERE "deletedAt" < now() - interval '${KEPT.days + KEPT.more} days'`,
    );
  }
}
