import type { DataSource } from 'typeorm';
import { changesTable } from '../../resource/changes-table.js';
import { deletionsTable } from '../deletions/deletion.js';

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

/** Reads how a table is tracked; `undefined` if it is not. Takes about a millisecond. */
export async function readTracking(
  dataSource: DataSource,
  resource: string,
): Promise<Tracking | undefined> {
  const [found] = await dataSource.query<Tracking[]>(
    `SELECT tracked AS table, identifier, counted, untrackable(tracked, true) AS reason,
       is_tracking_intact(resource) AS "isIntact",
       CASE WHEN to_regclass($3) IS NOT NULL THEN (
         SELECT coalesce(array_agg(attname::text ORDER BY attnum) FILTER (
           WHERE attname NOT IN (identifier, 'changedAt')
         ), '{}')
         FROM pg_attribute WHERE attrelid = to_regclass($2) AND attnum > 0 AND NOT attisdropped
         HAVING count(*) > 0
       ) END AS recorded
     FROM tallies WHERE resource = $1 AND tracked IS NOT NULL`,
    [resource, changesTable(resource), deletionsTable(resource)],
  );
  return found;
}

/**
 * Checks that the triggers on a table of others are in place: its owner may disable or drop them at any time.
 *
 * @throws Error if not
 */
export async function checkTracking(dataSource: DataSource, resource: string): Promise<void> {
  const found = await readTracking(dataSource, resource);
  if (found?.isIntact && found.reason === null) return;
  throw new Error(
    found?.reason ?? 'its triggers or columns are not those with which its tally was counted',
  );
}
