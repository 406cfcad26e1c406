import type { DataSource, EntityMetadata } from 'typeorm';
import { identifierOf, nameOf, tableOf } from '../../resource/resource.js';
import { changesTable, hasChangesTable } from '../../resource/changes-table.js';
import { deletionsTable, RETENTION } from './deletion.js';

/** The time before which what is kept of deleted objects is removed, in SQL. */
const LIMIT = `now() - interval '${RETENTION.days + RETENTION.extraDays} days'`;

/**
 * Removes the deletions of a resource that are past their retention, and of a table of others the times at which the
 * deleted objects were changed.
 */
export async function purgeDeletions(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<void> {
  const resource = nameOf(metadata);
  const deletions = deletionsTable(resource);
  const isPast = (column: string): string => `"${column}" < ${LIMIT}`;
  if (!hasChangesTable(metadata)) {
    await dataSource.query(`DELETE FROM ${deletions} WHERE ${isPast('deletedAt')}`);
    return;
  }
  const [changes, key] = [changesTable(resource), `"${identifierOf(metadata).databaseName}"`];
  // It waits for no writer, so that it cannot be part of a deadlock with one. A row that was inserted again after the
  // snapshot has another time, which is compared once more when the row of the time is locked.
  await dataSource.query(
    `WITH purged AS (
       DELETE FROM ${deletions} WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM ${deletions} WHERE ${isPast('deletedAt')} FOR UPDATE SKIP LOCKED
       )) RETURNING ${key}
     )
     DELETE FROM ${changes} WHERE ctid = ANY (ARRAY(
       SELECT changed.ctid FROM ${changes} changed
       WHERE ${key} IN (SELECT ${key} FROM purged) AND ${isPast('changedAt')}
       AND (SELECT true FROM ${tableOf(metadata)} present WHERE present.${key} = changed.${key}) IS NULL
       FOR UPDATE OF changed SKIP LOCKED
     ))`,
  );
}
