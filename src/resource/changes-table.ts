import type { EntityMetadata } from 'typeorm';
import { externalTableOf, isTallied } from './resource.js';

/**
 * The table with the time of the last change of each object in a tracked table of others, quoted. The SQL function
 * `track_table` creates it. A resource with a table of its own has a column for it, `@UpdateDateColumn`.
 */
export function changesTable(resource: string): string {
  return `"${resource}_tally_changes"`;
}

/** Whether the times of changes are in `changesTable`. */
export function hasChangesTable(metadata: Pick<EntityMetadata, 'target'>): boolean {
  return isTallied(metadata) && externalTableOf(metadata) !== undefined;
}
