import { isDeepStrictEqual } from 'node:util';
import type { DataSource, EntityMetadata } from 'typeorm';
import { readTracking } from '../list/tally/tracking.js';
import { changesTable } from '../resource/changes-table.js';
import { deletionsTable } from '../list/deletions/deletion.js';
import { type ExternalTable, nameOf, quotedTable } from '../resource/resource.js';
import { type Difference, MIGRATION, orMigration } from './difference.js';
import { declaredTracking, type InstalledTracking, trackTable } from './install-statements.js';

/** Compares the triggers of a table of others, and what they keep, with its entity. */
export async function trackingDifferences(
  dataSource: DataSource,
  metadata: EntityMetadata,
  external: ExternalTable,
): Promise<Omit<Difference, 'resource'>[]> {
  const table = quotedTable(external);
  const found = await readTracking(dataSource, nameOf(metadata));
  if (!found) {
    if (!external.tracked) return [];
    return [{ text: `${table} is not tracked`, remedy: MIGRATION }];
  }
  if (!external.tracked) {
    const text = `${found.table} has triggers, and ${metadata.name} does not say that it is tracked`;
    return [{ text, remedy: MIGRATION }];
  }
  if (!found.recorded) {
    const resource = nameOf(metadata);
    const text = `there is no table ${changesTable(resource)} or ${deletionsTable(resource)}, which triggers on ${table} write`;
    return [{ text, remedy: orMigration(trackTable(metadata, external)) }];
  }
  if (!isAsDeclared(metadata, external, found)) {
    const [counted, recorded] = [found.counted, found.recorded].map(
      (names) => names.join(', ') || 'nothing',
    );
    const text = `the tally of ${nameOf(metadata)} is that of ${found.table} by ${found.identifier}, and counts by ${counted}, its deletions record ${recorded}`;
    return [{ text: `${text}, unlike its entity`, remedy: MIGRATION }];
  }
  if (found.reason !== null) {
    return [{ text: found.reason, remedy: `then run ${trackTable(metadata, external)}` }];
  }
  if (found.isIntact) return [];
  const reason = await lostTracking(dataSource, metadata, table);
  return [{ text: reason, remedy: `run ${trackTable(metadata, external)}, which counts anew` }];
}

/** Whether what is installed is what an entity declares. */
export function isAsDeclared(
  metadata: EntityMetadata,
  external: ExternalTable,
  installed: InstalledTracking,
): boolean {
  const declared = declaredTracking(metadata, external);
  const haveSame = (one: readonly string[] | null, other: readonly string[] | null): boolean =>
    isDeepStrictEqual(one?.toSorted(), other?.toSorted());
  return (
    installed.table === declared.table &&
    installed.identifier === declared.identifier &&
    haveSame(installed.counted, declared.counted) &&
    haveSame(installed.recorded, declared.recorded)
  );
}

/** What has become of the triggers with which the rows were counted, and of the columns that they read. */
async function lostTracking(
  dataSource: DataSource,
  metadata: EntityMetadata,
  table: string,
): Promise<string> {
  const resource = nameOf(metadata);
  const triggers = await dataSource.query<
    { relation: string; missing: string[] | null; disabled: string[] | null }[]
  >(
    `SELECT relation::regclass::text AS relation,
       array_agg(wanted.name ORDER BY wanted.name) FILTER (WHERE tgname IS NULL) AS missing,
       array_agg(wanted.name ORDER BY wanted.name) FILTER (WHERE tgenabled NOT IN ('O', 'A')) AS disabled
     FROM unnest('{tally,changes}'::text[]) kept CROSS JOIN tracking_triggers($2, kept)
     CROSS JOIN format('%s_%s_%s', $1::text, kept, operation) AS wanted(name)
     LEFT JOIN pg_trigger ON tgrelid = relation AND tgname = wanted.name
       AND tgfoid = to_regprocedure(format('%I.%I()', current_schema(), format('keep_%s_%s', $1::text, kept)))
     GROUP BY relation ORDER BY relation`,
    [resource, table],
  );
  const columns = await dataSource.query<{ column: string }[]>(
    `SELECT key AS column FROM tallies CROSS JOIN jsonb_each(nullif(tracking -> 'columns', 'null'))
     WHERE resource = $1 AND value IS DISTINCT FROM tracking_of(resource) -> 'columns' -> key`,
    [resource],
  );
  const labels = await dataSource.query<{ former: string; label: string }[]>(
    `SELECT value AS former, enumlabel AS label
     FROM tallies CROSS JOIN jsonb_each_text(nullif(tracking -> 'labels', 'null')) JOIN pg_enum ON pg_enum.oid = key::oid
     WHERE resource = $1 AND value <> enumlabel ORDER BY value`,
    [resource],
  );
  const lost = [
    ...triggers.flatMap(({ relation, missing, disabled }) => [
      ...(missing ? [`${relation} has no trigger ${missing.join(', ')}`] : []),
      ...(disabled ?? []).map((name) => `the trigger ${name} on ${relation} is disabled`),
    ]),
    ...columns.map(
      ({ column }) =>
        `the column ${column} of ${table} was dropped and added again, or has another type or collation`,
    ),
    ...labels.map(({ former, label }) => `the value ${former} in ${table} was renamed to ${label}`),
  ];
  if (lost.length > 0) return lost.join(', ');
  return `a trigger of ${resource} on ${table} was disabled for a while, or a partition attached or detached, so that its tally may be wrong`;
}
