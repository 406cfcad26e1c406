import type { DataSource, EntityMetadata } from 'typeorm';
import { readTracking, type Tracking } from '../list/tally/tracking.js';
import { type ExternalTable, identifierOf, nameOf, quotedTable } from '../resource/resource.js';
import { tallyColumnsOf, trackTable } from './install-statements.js';

/** How the tracking of a table of others differs from what its entity declares. */
export interface TrackingDifference {
  readonly text: string;
  readonly remedy: string;
}

/** Compares the triggers and the tally of a table of others with its entity. */
export async function trackingDifferences(
  dataSource: DataSource,
  metadata: EntityMetadata,
  external: ExternalTable,
): Promise<TrackingDifference[]> {
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
  if (!isAsDeclared(metadata, external, found)) {
    const counted = found.counted.join(', ') || 'nothing';
    const text = `the tally of ${nameOf(metadata)} is that of ${found.table} by ${found.identifier}, and counts by ${counted}`;
    return [{ text: `${text}, unlike its entity`, remedy: MIGRATION }];
  }
  if (found.reason !== null) {
    return [{ text: found.reason, remedy: `then run ${trackTable(metadata, external)}` }];
  }
  if (found.isIntact) return [];
  const reason = await lostTriggers(dataSource, metadata, table);
  return [{ text: reason, remedy: `run ${trackTable(metadata, external)}, which counts anew` }];
}

/** The first command writes the missing migration, the second one applies it. */
const MIGRATION = 'run npm run migration -- <name> and catalogue migrate';

/** Whether what is installed is what an entity declares. */
export function isAsDeclared(
  metadata: EntityMetadata,
  external: ExternalTable,
  { table, identifier, counted }: Pick<Tracking, 'table' | 'identifier' | 'counted'>,
): boolean {
  const declared = tallyColumnsOf(metadata).counted;
  return (
    table === quotedTable(external) &&
    identifier === identifierOf(metadata).databaseName &&
    counted.length === declared.length &&
    declared.every((names) => counted.includes(names))
  );
}

/** What has become of the triggers with which the rows were counted. */
async function lostTriggers(
  dataSource: DataSource,
  metadata: EntityMetadata,
  table: string,
): Promise<string> {
  const resource = nameOf(metadata);
  const rows = await dataSource.query<
    { relation: string; missing: string[]; disabled: string[] }[]
  >(
    `SELECT relation::regclass::text AS relation,
       ARRAY(
         SELECT operation FROM unnest('{insert,update,delete,truncate}'::text[]) operation
         WHERE operation <> 'truncate' OR relkind = 'r' OR relation = relation_of($2)
         EXCEPT SELECT substr(tgname, length($1 || '_tally_') + 1) FROM pg_trigger
         WHERE tgrelid = relation AND tgfoid = to_regprocedure(format('%I.%I()', current_schema(), 'keep_' || $1 || '_tally'))
         ORDER BY operation
       ) AS missing,
       ARRAY(
         SELECT tgname::text FROM pg_trigger
         WHERE tgrelid = relation AND tgenabled NOT IN ('O', 'A')
         AND tgfoid = to_regprocedure(format('%I.%I()', current_schema(), 'keep_' || $1 || '_tally'))
         ORDER BY tgname
       ) AS disabled
     FROM tracked_relations($2) relation JOIN pg_class ON oid = relation`,
    [resource, table],
  );
  const lost = rows.flatMap(({ relation, missing, disabled }) => [
    ...(missing.length > 0
      ? [
          `${relation} has no trigger ${missing.map((name) => `${resource}_tally_${name}`).join(', ')}`,
        ]
      : []),
    ...disabled.map((name) => `the trigger ${name} on ${relation} is disabled`),
  ]);
  if (lost.length > 0) return lost.join(', ');
  return `a trigger of ${resource} on ${table} was disabled for a while, or a partition attached or detached, so that its tally may be wrong`;
}
