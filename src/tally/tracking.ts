import type { DataSource } from 'typeorm';

/** How a resource over a table of others is tracked, as the table `tallies` has it. */
export interface Tracking {
  /** The table, in SQL. */
  readonly table: string;
  readonly identifier: string;
  readonly counted: readonly string[];
  /**
   * The columns that its changes and deletions record besides the identifier; null if a table of these is
   * missing.
   */
  readonly recorded: readonly string[] | null;
  /** Why the table cannot be tracked any longer, such as a missing privilege; null if it can. */
  readonly reason: string | null;
  /**
   * Whether its triggers are those with which its rows were counted, and none was disabled since, not even for a
   * while; and whether the columns that they read are the same, with the same names of the values of enumerations.
   */
  readonly isIntact: boolean;
}

/** How those of some resources are tracked that are. Takes about a millisecond for each. */
export async function readTracking(
  dataSource: DataSource,
  resources: readonly string[],
): Promise<Map<string, Tracking>> {
  const rows = await dataSource.query<({ resource: string } & Tracking)[]>(
    `SELECT resource, tracked AS table, identifier, counted, untrackable(tracked, true) AS reason,
       is_tracking_intact(resource) AS "isIntact",
       CASE WHEN to_regclass(quote_ident(resource || '_deletions')) IS NOT NULL THEN (
         SELECT coalesce(array_agg(attname::text ORDER BY attnum) FILTER (
           WHERE attname NOT IN (identifier, 'changedAt')
         ), '{}')
         FROM pg_attribute WHERE attrelid = to_regclass(quote_ident(resource || '_tally_changes'))
         AND attnum > 0 AND NOT attisdropped
         HAVING count(*) > 0
       ) END AS recorded
     FROM tallies WHERE resource = ANY($1) AND tracked IS NOT NULL`,
    [resources],
  );
  return new Map(rows.map((row) => [row.resource, row]));
}

/**
 * Checks that the triggers on a table of others are in place: its owner may disable or drop them at any time.
 *
 * @throws Error if not
 */
export async function checkTracking(dataSource: DataSource, resource: string): Promise<void> {
  const found = (await readTracking(dataSource, [resource])).get(resource);
  if (found?.isIntact && found.reason === null) return;
  throw new Error(
    found?.reason ?? 'its triggers or columns are not those with which its tally was counted',
  );
}
