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
  installTally,
  TALLY_COLUMNS,
  type TallyColumns,
  tallyColumnsOf,
  trackTable,
  trackTableAgain,
  untrackTable,
} from './install-statements.js';
import { listIndexChanges } from './list-indexes.js';
import { recordedColumnsOf } from './recorded-columns.js';
import { type Changes, schemaChanges } from './schema-changes.js';
import { ADDED, dropColumn } from './statement-corrections.js';
import { isAsDeclared } from './tracking-differences.js';

/** The statements that bring tables, indexes, triggers and tallies in line with the entities. Only reads. */
export async function migrationChanges(dataSource: DataSource): Promise<Changes> {
  const changes = await schemaChanges(dataSource);
  const [up, down] = [[...changes.up], [...changes.down]];
  for (const [{ tableName: table }, { missing, surplus }] of await listIndexChanges(dataSource)) {
    // Before a column of theirs is dropped.
    up.unshift(...surplus.map(dropIndex));
    up.push(...missing.map((index) => createIndex(table, index)));
    down.unshift(...missing.map(dropIndex));
    down.push(...surplus.map((index) => createIndex(table, index)));
  }
  const recorded = await recordedColumnsOf(dataSource);
  for (const metadata of ownResourcesOf(dataSource).values()) {
    const { tableName: table } = metadata;
    const recreated = indexesOfRecreatedColumns(metadata, changes.up).filter(
      (index) => !up.includes(index),
    );
    up.push(...recreated);
    down.push(...recreated);
    if (metadata.updateDateColumn && !(await hasTrigger(dataSource, table))) {
      up.push(createUpdatedAtTrigger(metadata));
    }
    const deletions = recorded.get(table);
    if (!deletions?.areAsDeclared) {
      up.push(installDeletions(metadata));
      down.unshift(
        deletions
          ? installDeletions(metadata, deletions.installed)
          : `SELECT remove_deletions('${table}')`,
      );
    }
    const [installed] = await dataSource.query<TallyColumns[]>(
      `SELECT ${TALLY_COLUMNS.join()} FROM tallies WHERE resource = $1`,
      [table],
    );
    const declared = tallyColumnsOf(metadata);
    const isSame = installed !== undefined && countsAsDeclared(installed, declared);
    const searched = await searchedColumns(dataSource, table);
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
  for (const [metadata, external] of externalTablesOf(dataSource)) {
    const found = await readTracking(dataSource, nameOf(metadata));
    const { tracked = false } = external;
    if (tracked ? found && isAsDeclared(metadata, external, found) : !found) continue;
    const untrack = untrackTable(nameOf(metadata));
    up.push(tracked ? trackTable(metadata, external) : untrack);
    down.unshift(found ? trackTableAgain(nameOf(metadata), found) : untrack);
  }
  return { up, down };
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
  return [...(tally?.counted ?? []), ...(tally?.sorted ?? []), ...(tally?.ranges ?? [])].flatMap(
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

/** The statements that create the indexes of lists that PostgreSQL drops with such a column. */
function indexesOfRecreatedColumns(
  metadata: EntityMetadata,
  statements: readonly string[],
): string[] {
  const { tableName: table } = metadata;
  const columns = recreatedColumns(statements, table);
  return listIndexes(listTableOf(metadata))
    .filter((index) => columns.some((column) => index.columns.includes(`"${column}"`)))
    .map((index) => createIndex(table, index));
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
