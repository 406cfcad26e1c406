import type { EntityMetadata } from 'typeorm';
import { deletionsTable } from '../../list/deletions/deletion.js';
import { readTracking, type Tracking } from '../../list/tally/tracking.js';
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
import { lostTracking } from './lost-tracking.js';
import type { Part } from './part.js';
import { declaredTally, haveSameNames } from './tally.js';

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
  const lists = [counted, recorded ?? []].map((names) => `'{${names.join()}}'`).join(', ');
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
