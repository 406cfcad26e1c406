/** Runs a statement in an open transaction. */
type Query = (text: string, values?: string[]) => Promise<unknown>;

/**
 * Lets earlier writers of a resource end, and keeps new ones out until the transaction ends. A writer with
 * an older snapshot, which would not see what the transaction changes, is refused when it writes.
 *
 * @param timeout milliseconds to wait for earlier writers; see `isLockTimeout`
 */
export async function excludeWriters(
  query: Query,
  resource: string,
  timeout: number,
): Promise<void> {
  await query(`SET LOCAL lock_timeout = ${timeout}`);
  await query(`LOCK TABLE "${resource}" IN SHARE MODE`);
  // The trigger of such a writer locks this row, and fails since it has changed.
  await query('UPDATE tallies SET cuts = cuts + 1 WHERE resource = $1', [resource]);
}
