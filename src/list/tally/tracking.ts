import type { DataSource } from 'typeorm';

/** How the tally of a resource over a table of others is installed, as the table `tallies` has it. */
export interface Tracking {
  /** The table, in SQL. */
  readonly table: string;
  readonly identifier: string;
  readonly counted: readonly string[];
  /** Why the table cannot be tracked any longer, such as a missing privilege; null if it can. */
  readonly reason: string | null;
  /**
   * Whether its triggers are those with which its rows were counted, and none was disabled since, not even for a
   * while.
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
       coalesce(triggers = tracking_of(resource), false) AS "isIntact"
     FROM tallies WHERE resource = $1 AND tracked IS NOT NULL`,
    [resource],
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
  throw new Error(found?.reason ?? 'its triggers are not those with which its tally was counted');
}
