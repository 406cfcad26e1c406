import type { DataSource, EntityMetadata } from 'typeorm';
import { deletionsTable } from '../../list/deletions/deletion.js';
import { declaredTally, namesArray } from '../../tally/tally-columns.js';
import { readTracking, type Tracking } from '../../tally/tracking.js';
import { changesTable } from '../../resource/changes-table.js';
import {
  externalTableOf,
  identifierOf,
  nameOf,
  quotedTable,
  resourcesOf,
} from '../../resource/resource.js';
import { MIGRATION, named, orMigration } from '../difference.js';
import { deletionColumnsOf } from './deletions.js';
import type { Part } from './part.js';
import { haveSameNames } from './tally.js';

/** With what a table of others is tracked. */
type Tracked = Pick<Tracking, 'table' | 'identifier' | 'counted' | 'recorded'>;

/** The tally of a table of others, the times of its changes and its deletions, with the triggers that write them. */
export const tracking: Part<Tracking> = {
  isOf: (metadata) => externalTableOf(metadata) !== undefined,

  read: (dataSource) => readTracking(dataSource, [...resourcesOf(dataSource).keys()]),

  async differences(metadata, installed, dataSource) {
    const [resource, declared] = [nameOf(metadata), declaredTracking(metadata)];
    if (!declared) {
      if (!installed) return [];
      const text = `${installed.table} has triggers, and ${metadata.name} does not say that it is tracked`;
      return [{ text, remedy: MIGRATION }];
    }
    const { table } = declared;
    if (!installed) return [{ text: `${table} is not tracked`, remedy: MIGRATION }];
    const track = trackTable(resource, declared);
    if (!installed.recorded) {
      const text = `there is no table ${changesTable(resource)} or ${deletionsTable(resource)}, which triggers on ${table} write`;
      return [{ text, remedy: orMigration(track) }];
    }
    if (!isSame(installed, declared)) {
      const [counted, recorded] = [installed.counted, installed.recorded].map(named);
      const text = `the tally of ${resource} is that of ${installed.table} by ${installed.identifier}, and counts by ${counted}, its deletions record ${recorded}`;
      return [{ text: `${text}, unlike its entity`, remedy: MIGRATION }];
    }
    if (installed.reason !== null) return [{ text: installed.reason, remedy: `then run ${track}` }];
    if (installed.isIntact) return [];
    const text = await lostTracking(dataSource, resource, table);
    return [{ text, remedy: `run ${track}, which counts anew` }];
  },

  migrate(metadata, installed, { up, down }) {
    const [resource, declared] = [nameOf(metadata), declaredTracking(metadata)];
    if (declared ? installed && isSame(installed, declared) : !installed) return;
    up.last.push(trackTable(resource, declared));
    down.first.unshift(trackTable(resource, installed));
  },
};

/** How a table of others is tracked according to its entity; `undefined` if it is not. */
export function declaredTracking(metadata: EntityMetadata): Tracked | undefined {
  const external = externalTableOf(metadata);
  if (!external?.tracked) return undefined;
  return {
    table: quotedTable(external),
    identifier: identifierOf(metadata).databaseName,
    counted: declaredTally(metadata).counted,
    recorded: deletionColumnsOf(metadata),
  };
}

/** The statement that tracks a table, or tracks it anew; without `tracked` the one that removes what it has created. */
export function trackTable(resource: string, tracked: Tracked | undefined): string {
  if (!tracked) return `SELECT untrack_table('${resource}')`;
  const { table, identifier, counted, recorded } = tracked;
  const lists = [counted, recorded ?? []].map(namesArray).join(', ');
  return `SELECT track_table('${resource}', '${table}', '${identifier}', ${lists})`;
}

/** Whether what is installed is what is declared, in any order of the names. */
function isSame(one: Tracked, other: Tracked): boolean {
  if (!one.recorded || !other.recorded) return false;
  return (
    one.table === other.table &&
    one.identifier === other.identifier &&
    haveSameNames(one.counted, other.counted) &&
    haveSameNames(one.recorded, other.recorded)
  );
}

/** What has become of the triggers with which the rows of a table were counted, and of the columns that they read. */
async function lostTracking(
  dataSource: DataSource,
  resource: string,
  table: string,
): Promise<string> {
  const lost = await dataSource.query<{ text: string }[]>(LOST, [resource, table]);
  if (lost.length > 0) return lost.map(({ text }) => text).join(', ');
  return `a trigger of ${resource} on ${table} was disabled for a while, or a partition attached or detached, so that its tally may be wrong`;
}

const LOST = `
  WITH wanted AS (
    SELECT relation::regclass::text AS relation, name, tgname, tgenabled
    FROM unnest('{tally,changes}'::text[]) kept CROSS JOIN tracking_triggers($2::text, kept)
    CROSS JOIN format('%s_%s_%s', $1::text, kept, operation) AS named(name)
    LEFT JOIN pg_trigger ON tgrelid = relation AND tgname = name
      AND tgfoid = to_regprocedure(format('%I.%I()', current_schema(), format('keep_%s_%s', $1::text, kept)))
  ), lost AS (
    SELECT 1 AS place, relation, 0 AS at, '' AS name,
      format('%s has no trigger %s', relation, string_agg(name, ', ' ORDER BY name)) AS text
    FROM wanted WHERE tgname IS NULL GROUP BY relation
    UNION ALL
    SELECT 1, relation, 1, name, format('the trigger %s on %s is disabled', name, relation)
    FROM wanted WHERE tgenabled NOT IN ('O', 'A')
    UNION ALL
    SELECT 2, '', at, key,
      format('the column %s of %s was dropped and added again, or has another type or collation', key, $2::text)
    FROM tallies CROSS JOIN jsonb_each(nullif(tracking -> 'columns', 'null')) WITH ORDINALITY each(key, value, at)
    WHERE resource = $1 AND value IS DISTINCT FROM tracking_of(resource) -> 'columns' -> key
    UNION ALL
    SELECT 3, '', 1, value, format('the value %s in %s was renamed to %s', value, $2::text, enumlabel)
    FROM tallies CROSS JOIN jsonb_each_text(nullif(tracking -> 'labels', 'null')) JOIN pg_enum ON pg_enum.oid = key::oid
    WHERE resource = $1 AND value <> enumlabel
  )
  SELECT text FROM lost ORDER BY place, relation, at, name`;
