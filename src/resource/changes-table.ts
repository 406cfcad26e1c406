import { capabilitiesOf } from './capabilities.js';

/**
 * The table with the time of the last change of each object in a tracked table of others, quoted. The SQL function
 * `track_table` creates it. A resource with a table of its own has a column for it, `@UpdateDateColumn`.
 */
export function changesTable(resource: string): string {
  return `"${resource}_tally_changes"`;
}

/** Whether the times of changes are in `changesTable`, since the service cannot give the table a column for them. */
export function hasChangesTable(resource: Parameters<typeof capabilitiesOf>[0]): boolean {
  const { changes, written } = capabilitiesOf(resource);
  return changes && !written;
}
