import type { DataSource } from 'typeorm';
import { resourcesWith } from '../resource/capabilities.js';
import type { Difference } from './difference.js';

/** The resources for which the database has a tally or deletions, whether or not the code has them. */
export async function installedResources(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ resource: string }[]>(
    `SELECT resource FROM tallies
     UNION SELECT substr(proname, 6, length(proname) - 15) FROM pg_proc
     WHERE pronamespace = current_schema()::regnamespace AND proname ~ '^keep_.+_deletions$'
     ORDER BY resource`,
  );
  return rows.map(({ resource }) => resource);
}

/** The installed resources of which the code has no entity. */
export async function surplusDifferences(dataSource: DataSource): Promise<Difference[]> {
  const resources = resourcesWith('counts', dataSource);
  const surplus = (await installedResources(dataSource)).filter((name) => !resources.has(name));
  return surplus.map((resource) => ({
    text: `the database has the resource ${resource}, which the code has not`,
    remedy: `bring its code back, or run catalogue drop ${resource}`,
    isSurplus: true,
  }));
}
