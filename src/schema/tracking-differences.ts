import { isDeepStrictEqual } from 'node:util';
import type { DataSource, EntityMetadata } from 'typeorm';
import { readTracking } from '../list/tally/tracking.js';
import { changesTable } from '../list/changes.js';
import { deletionsTable } from '../list/deletions/deletion.js';
import { type ExternalTable, nameOf, quotedTable } from '../resource/resource.js';
import { declaredTracking, type InstalledTracking, trackTable } from './install-statements.js';

/** How the tracking of a table of others differs from what its entity declares. */
export interface TrackingDifference {
  readonly text: string;
  readonly remedy: string;
}

/** Compares the triggers of a table of others, and what they keep, with its entity. */
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
  if (!found.recorded) {
    const resource = nameOf(metadata);
    const text = `there is no table ${changesTable(resource)} or ${deletionsTable(resource)}, which triggers on ${table} write`;
    const remedy = `${MIGRATION}, or if a migration has it already: ${trackTable(metadata, external)}`;
    return [{ text, remedy }];
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
  const reason = await lostTriggers(dataSource, metadata, table);
  return [{ text: reason, remedy: `run ${trackTable(metadata, external)}, which counts anew` }];
}

/** The first command writes the missing migration, the second one applies it. */
const MIGRATION = 'run npm run migration -- <name> and catalogue migrate';

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
    `WITH kept AS (
       SELECT format('%s_%s_%s', $1::text, kept, operation) AS trigger, kept, operation, to_regprocedure(
           format('%I.%I()', current_schema(), format('keep_%s_%s', $1::text, kept))
         ) AS function
       FROM unnest('{tally,changes}'::text[]) kept,
         unnest('{insert,update,delete,truncate,route}'::text[]) operation
       WHERE operation <> 'route' OR kept = 'changes'
     )
     SELECT relation::regclass::text AS relation,
       ARRAY(
         SELECT trigger FROM kept
         WHERE CASE operation
           WHEN 'truncate' THEN relkind = 'r' OR kept = 'tally' AND relation = relation_of($2)
           WHEN 'route' THEN relkind = 'r' AND relation <> relation_of($2)
           ELSE true END
         EXCEPT SELECT trigger FROM kept JOIN pg_trigger ON tgname = trigger AND tgfoid = function
         WHERE tgrelid = relation
         ORDER BY trigger
       ) AS missing,
       ARRAY(
         SELECT tgname::text FROM pg_trigger
         WHERE tgrelid = relation AND tgenabled NOT IN ('O', 'A') AND tgfoid IN (SELECT function FROM kept)
         ORDER BY tgname
       ) AS disabled
     FROM tracked_relations($2) relation JOIN pg_class ON oid = relation`,
    [resource, table],
  );
  const lost = rows.flatMap(({ relation, missing, disabled }) => [
    ...(missing.length > 0 ? [`${relation} has no trigger ${missing.join(', ')}`] : []),
    ...disabled.map((name) => `the trigger ${name} on ${relation} is disabled`),
  ]);
  if (lost.length > 0) return lost.join(', ');
  return `a trigger of ${resource} on ${table} was disabled for a while, or a partition attached or detached, so that its tally may be wrong`;
}
