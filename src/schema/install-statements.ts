import { isDeepStrictEqual } from 'node:util';
import type { EntityMetadata } from 'typeorm';
import type { Tracking } from '../list/tally/tracking.js';
import { recordedColumns } from '../list/deletions/deletion.js';
import {
  columnOf,
  countedColumnsOf,
  countedIntervalsOf,
  type ExternalTable,
  identifierOf,
  nameOf,
  quotedTable,
  searchedColumnsOf,
  sortedColumnsOf,
} from '../resource/resource.js';
import { scopeOf } from '../resource/scope.js';

/** What a tally counts, as the table `tallies` has it. */
export interface TallyColumns {
  /** Columns, and combinations of columns such as `categoryID+type`. */
  readonly counted: readonly string[];
  readonly sorted: readonly string[];
  readonly searched: readonly string[];
  /** Intervals, such as `categoryID+type+price` for those of the price within a category and a type. */
  readonly intervals: readonly string[];
}

/** The columns of the table `tallies` that have them. */
export const TALLY_COLUMNS = [
  'counted',
  'sorted',
  'searched',
  'intervals',
] as const satisfies readonly (keyof TallyColumns)[];

/** What the tally of a resource counts according to its entity. */
export function tallyColumnsOf(metadata: EntityMetadata): TallyColumns {
  return {
    counted: countedColumnsOf(metadata).map((names) => names.join('+')),
    sorted: sortedColumnsOf(metadata),
    searched: searchedColumnsOf(metadata),
    intervals: countedIntervalsOf(metadata).map(({ of, within }) => [...within, of].join('+')),
  };
}

/** Whether a tally counts what is declared, in any order of the names. */
export function countsAsDeclared(installed: TallyColumns, declared: TallyColumns): boolean {
  const isSame = (one: readonly string[], other: readonly string[]): boolean =>
    isDeepStrictEqual(one.toSorted(), other.toSorted());
  return TALLY_COLUMNS.every((columns) => isSame(installed[columns], declared[columns]));
}

/** The statement that creates the tally of a resource, or recreates it from the table. */
export function installTally(metadata: EntityMetadata, tally: TallyColumns): string {
  const { databaseName: identifier } = identifierOf(metadata);
  const columns = TALLY_COLUMNS.map((name) => tally[name]);
  // The last arguments are optional.
  while (columns.length > 1 && columns.at(-1)?.length === 0) columns.pop();
  const lists = columns.map((names) => `'{${names.join()}}'`).join(', ');
  return `SELECT install_tally('${metadata.tableName}', '${identifier}', ${lists})`;
}

/**
 * The statement that creates the table and triggers that record the deletions of a resource.
 *
 * @param columns those that it records besides the identifier
 */
export function installDeletions(
  metadata: EntityMetadata,
  columns: readonly string[] = deletionColumnsOf(metadata),
): string {
  const { databaseName: identifier } = identifierOf(metadata);
  const recorded = columns.length > 0 ? `, '{${columns.join()}}'` : '';
  return `SELECT install_deletions('${metadata.tableName}', '${identifier}'${recorded})`;
}

/** The columns that the deletions of a resource record besides the identifier, according to its entity. */
export function deletionColumnsOf(metadata: EntityMetadata): string[] {
  return recordedColumns(scopeOf(metadata), identifierOf(metadata).propertyName).map(
    (name) => columnOf(metadata, name).databaseName,
  );
}

/** The statement that creates the triggers, the tally and the times of a table of others, or recreates them. */
export function trackTable(metadata: EntityMetadata, external: ExternalTable): string {
  return trackTableAgain(nameOf(metadata), declaredTracking(metadata, external));
}

/** How a table of others is tracked according to its entity. */
export function declaredTracking(
  metadata: EntityMetadata,
  external: ExternalTable,
): InstalledTracking {
  return {
    table: quotedTable(external),
    identifier: identifierOf(metadata).databaseName,
    counted: tallyColumnsOf(metadata).counted,
    recorded: deletionColumnsOf(metadata),
  };
}

export type InstalledTracking = Pick<Tracking, 'table' | 'identifier' | 'counted' | 'recorded'>;

/** The same as it is installed. */
export function trackTableAgain(
  resource: string,
  { table, identifier, counted, recorded }: InstalledTracking,
): string {
  const lists = [counted, recorded ?? []].map((names) => `'{${names.join()}}'`).join(', ');
  return `SELECT track_table('${resource}', '${table}', '${identifier}', ${lists})`;
}

/** The statement that removes all of these. */
export function untrackTable(resource: string): string {
  return `SELECT untrack_table('${resource}')`;
}

/** The statement that creates the trigger that sets `updatedAt`. */
export function createUpdatedAtTrigger({ tableName: table }: EntityMetadata): string {
  return `CREATE TRIGGER "${table}_updated_at" BEFORE INSERT OR UPDATE ON "${table}" FOR EACH ROW EXECUTE FUNCTION "keep_updated_at"()`;
}

/** The statement that drops an index. */
export function dropIndex({ name }: { name: string }): string {
  return `DROP INDEX "${name}"`;
}
