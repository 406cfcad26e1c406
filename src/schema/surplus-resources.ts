import type { DataSource } from 'typeorm';
import { talliedResourcesOf } from '../resource/resource.js';

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

/** The resources for which the database has a tally or deletions, and the code has no entity. */
export async function surplusResources(dataSource: DataSource): Promise<string[]> {
  const resources = talliedResourcesOf(dataSource);
  return (await installedResources(dataSource)).filter((resource) => !resources.has(resource));
}
