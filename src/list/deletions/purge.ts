import type { DataSource } from 'typeorm';
import { resourcesOf } from '../resource.js';
import { deletionsTable, KEPT } from './deletion.js';

/** Forgets the deletions that nobody is told of any more. */
export async function purgeDeletions(dataSource: DataSource): Promise<void> {
  for (const resource of resourcesOf(dataSource).keys()) {
    await dataSource.query(
      `DELETE FROM ${deletionsTable(resource)}
       WHERE "deletedAt" < now() - interval '${KEPT.days + KEPT.more} days'`,
    );
  }
}
