/**
 * Statements that let earlier writers of a resource end, and keep new ones out until the open transaction ends. A writer
 * with an older snapshot, which would not see what the transaction changes, is refused when it writes.
 *
 * @param timeout milliseconds to wait for earlier writers; see `isLockTimeout`
 */
export function excludeWriters(resource: string, timeout: number): string {
  // The trigger of a writer with an older snapshot locks the row of tallies, and fails since it has changed.
  return `SET LOCAL lock_timeout = ${timeout};
    LOCK TABLE "${resource}" IN SHARE MODE;
    UPDATE tallies SET cuts = cuts + 1 WHERE resource = '${resource}'`;
}
