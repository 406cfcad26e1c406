import type { Client } from 'pg';
import { isLockTimeout } from '../../database/database-failure.js';
import type { ReservedConnections } from '../../database/reserved-connections.js';
import { excludeWriters } from './exclude-writers.js';

// A tally begins to count something in two transactions, while writers go on: the first makes every later writer
// record it, the second counts the objects that are there.

/** Milliseconds to wait for the lock of the resource. Writers that arrive meanwhile wait behind it. */
const LOCK_TIMEOUT = 800;

/**
 * Runs statements that may take minutes, unless another instance is running them.
 *
 * @param name of the advisory lock
 * @param signal cancels them
 * @returns what `work` returns; false if another instance is running, or `signal` was aborted
 */
export function onOneInstance(
  connections: ReservedConnections,
  name: string,
  work: (client: Client) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<boolean> {
  return connections.withoutTimeLimit(async (client) => {
    const { rows } = await client.query<{ free: boolean }>(
      'SELECT pg_try_advisory_lock(hashtext($1)) AS free',
      [name],
    );
    return rows[0]?.free === true && work(client);
  }, signal);
}

/**
 * Changes what writers of a resource record. Writers that do not see the change have ended before the objects are
 * counted.
 *
 * @returns false if the lock timed out, which leaves the transaction of the client aborted
 */
export async function changeRecorded(
  client: Client,
  resource: string,
  change: () => Promise<void>,
): Promise<boolean> {
  try {
    await client.query('BEGIN');
    await excludeWriters((text, values) => client.query(text, values), resource, LOCK_TIMEOUT);
    await change();
    await client.query('COMMIT');
    return true;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    return false;
  }
}

/** Counts objects of a resource in one snapshot. */
export async function countInSnapshot(
  client: Client,
  resource: string,
  count: () => Promise<void>,
): Promise<void> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  // Lock order: table before tally, as TRUNCATE takes them; otherwise they deadlock.
  await client.query(`LOCK TABLE "${resource}" IN ACCESS SHARE MODE`);
  await count();
  await client.query('COMMIT');
}
