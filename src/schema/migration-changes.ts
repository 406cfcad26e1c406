import type { DataSource, EntityMetadata } from 'typeorm';
import { listTableOf } from '../resource/carried-columns.js';
import { createIndex, listIndexes } from '../resource/list-indexes.js';
import { readTracking } from '../list/tally/tracking.js';
import {
  type ExternalTable,
  externalTableOf,
  nameOf,
  ownResourcesOf,
  resourcesOf,
} from '../resource/resource.js';
import {
  countsAsDeclared,
  createUpdatedAtTrigger,
  dropIndex,
  installDeletions,
  type InstalledTracking,
  installTally,
  type TallyColumns,
  tallyColumnsOf,
  trackTable,
  trackTableAgain,
  untrackTable,
} from './install-statements.js';
import { talliesOf } from './installed-tallies.js';
import { listIndexChanges, type ListIndexChanges } from './list-indexes.js';
import { type RecordedColumns, recordedColumnsOf } from './recorded-columns.js';
import { type Changes, schemaChanges } from './schema-changes.js';
import { ADDED, dropColumn } from './statement-corrections.js';
import { isAsDeclared } from './tracking-differences.js';

/** The statements that bring tables, indexes, triggers and tallies in line with the entities. Only reads. */
export async function migrationChanges(dataSource: DataSource): Promise<Changes> {
  const changes = await schemaChanges(dataSource);
  const [up, down] = [[...changes.up], [...changes.down]];
  addListIndexes(await listIndexChanges(dataSource), up, down);
  const recorded = await recordedColumnsOf(dataSource);
  const tallies = await talliesOf(dataSource);
  for (const metadata of ownResourcesOf(dataSource).values()) {
    const { tableName: table } = metadata;
    addRecreatedIndexes(metadata, up, down);
    if (metadata.updateDateColumn && !(await hasTrigger(dataSource, table))) {
      up.push(createUpdatedAtTrigger(metadata));
    }
    addDeletions(metadata, recorded.get(table), up, down);
    const searched = await searchedColumns(dataSource, table);
    addTally(metadata, tallies.get(table), searched, up, down);
  }
  for (const [metadata, external] of externalTablesOf(dataSource)) {
    addTracking(metadata, external, await readTracking(dataSource, nameOf(metadata)), up, down);
  }
  return { up, down };
}

function addListIndexes(
  changes: ReadonlyMap<EntityMetadata, ListIndexChanges>,
  up: string[],
  down: string[],
): void {
  for (const [{ tableName: table }, { missing, surplus }] of changes) {
    // Before a column of theirs is dropped.
    up.unshift(...surplus.map(dropIndex));
    up.push(...missing.map((index) => createIndex(table, index)));
    down.unshift(...missing.map(dropIndex));
    down.push(...surplus.map((index) => createIndex(table, index)));
  }
}

/** Adds the indexes of lists that PostgreSQL drops with a column that is dropped and added. */
function addRecreatedIndexes(metadata: EntityMetadata, up: string[], down: string[]): void {
  const { tableName: table } = metadata;
  const columns = recreatedColumns(up, table);
  const recreated = listIndexes(listTableOf(metadata))
    .filter((index) => columns.some((column) => index.columns.includes(`"${column}"`)))
    .map((index) => createIndex(table, index))
    .filter((index) => !up.includes(index));
  up.push(...recreated);
  down.push(...recreated);
}

function addDeletions(
  metadata: EntityMetadata,
  recorded: RecordedColumns | undefined,
  up: string[],
  down: string[],
): void {
  if (recorded?.areAsDeclared) return;
  up.push(installDeletions(metadata));
  down.unshift(
    recorded
      ? installDeletions(metadata, recorded.installed)
      : `SELECT remove_deletions('${metadata.tableName}')`,
  );
}

/** @param searched the columns of `searchedColumns` */
function addTally(
  metadata: EntityMetadata,
  installed: TallyColumns | undefined,
  searched: readonly string[],
  up: string[],
  down: string[],
): void {
  const { tableName: table } = metadata;
  const declared = tallyColumnsOf(metadata);
  const isSame = installed !== undefined && countsAsDeclared(installed, declared);
  const ways = [
    { statements: up, former: installed, next: declared },
    { statements: down, former: declared, next: installed },
  ];
  for (const { statements, former, next } of ways) {
    const retyped = retypedColumns(statements, table);
    if (retyped.some((column) => searched.includes(column))) {
      // No type of a column changes that a trigger names.
      statements.unshift(`SELECT remove_words('${table}')`);
      statements.push(`SELECT install_words('${table}', '{${searched.join()}}')`);
    }
    // Its tables have columns of the same types.
    const isRetyped = retyped.some((column) => talliedColumns(former).includes(column));
    if (isSame && !isRetyped) continue;
    if (former && (isRetyped || !next)) {
      statements.unshift(`SELECT remove_tally('${table}')`);
    }
    // At the end, where its columns have the names that it counts by.
    if (next) statements.push(installTally(metadata, next));
  }
}

function addTracking(
  metadata: EntityMetadata,
  external: ExternalTable,
  installed: InstalledTracking | undefined,
  up: string[],
  down: string[],
): void {
  const { tracked = false } = external;
  if (tracked ? installed && isAsDeclared(metadata, external, installed) : !installed) return;
  const untrack = untrackTable(nameOf(metadata));
  up.push(tracked ? trackTable(metadata, external) : untrack);
  down.unshift(installed ? trackTableAgain(nameOf(metadata), installed) : untrack);
}

/** The resources over tables of others, with their tables. */
function externalTablesOf(dataSource: DataSource): [EntityMetadata, ExternalTable][] {
  return [...resourcesOf(dataSource).values()].flatMap((metadata) => {
    const external = externalTableOf(metadata);
    return external ? [[metadata, external] as [EntityMetadata, ExternalTable]] : [];
  });
}

/** Every column of a tally. */
function talliedColumns(tally: TallyColumns | undefined): string[] {
  return [...(tally?.counted ?? []), ...(tally?.sorted ?? []), ...(tally?.intervals ?? [])].flatMap(
    (names) => names.split('+'),
  );
}

/** The columns of a table that statements give another type, or drop and add. */
function retypedColumns(statements: readonly string[], table: string): string[] {
  const columns = statements.flatMap((statement) => {
    const [, of, column] = /^ALTER TABLE "(\w+)" ALTER COLUMN "(\w+)" TYPE /.exec(statement) ?? [];
    return of === table && column !== undefined ? [column] : [];
  });
  return [...columns, ...recreatedColumns(statements, table)];
}

/** The columns of a table that statements drop and add, such as one that is generated in another way. */
function recreatedColumns(statements: readonly string[], table: string): string[] {
  return statements.flatMap((statement) => {
    const [, of, column = ''] = ADDED.exec(statement) ?? [];
    const isDropped = statements.includes(dropColumn(table, column));
    return of === table && isDropped ? [column] : [];
  });
}

/** The columns whose words a trigger of `install_words` keeps, in the order of its argument. */
async function searchedColumns(dataSource: DataSource, table: string): Promise<string[]> {
  const rows = await dataSource.query<{ columns: string[] }[]>(
    'SELECT columns FROM searches WHERE resource = $1',
    [table],
  );
  return rows.flatMap(({ columns }) => columns);
}

/** https://www.postgresql.org/docs/current/catalog-pg-trigger.html */
async function hasTrigger(dataSource: DataSource, table: string): Promise<boolean> {
  const rows = await dataSource.query<unknown[]>(
    `SELECT FROM pg_trigger WHERE tgrelid = to_regclass($1) AND tgfoid = 'keep_updated_at'::regproc`,
    [`"${table}"`],
  );
  return rows.length > 0;
}
