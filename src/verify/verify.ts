import type { INestApplicationContext } from '@nestjs/common';
import { DataSource, type EntityMetadata } from 'typeorm';
import { identifierOf, isTallied, nameOf, resourcesOf, tableOf } from '../resource/resource.js';
import { changesTable, hasChangesTable } from '../resource/changes-table.js';
import { readTracking } from '../list/tally/tracking.js';
import { failingLists } from './filtered-lists.js';
import { miscounts } from './miscounts.js';
import { missingIndexes } from './missing-indexes.js';
import { uncarriedFilters } from './uncarried-filters.js';
import { unscopedReads } from './unscoped-reads.js';
import { lineOf } from '../schema/difference.js';
import { differences } from '../schema/differences.js';
import { foreignSearches, searchLanguageDifference } from '../schema/search-language.js';
import { Settings } from '../settings/settings.js';
import { findCycle, parentColumnOf } from '../resource/tree.js';

/** Seconds by which the times of changes may be ahead of the clock without a report. */
const MAX_CLOCK_LAG = 60;

/** The violations in a database, as lines: of its schema, and of the constraints on its data. */
export async function findViolations(application: INestApplicationContext): Promise<string[]> {
  const dataSource = application.get(DataSource);
  const found = await differences(dataSource);
  const violations = [
    ...found.map(lineOf),
    ...(await invalidIndexes(dataSource)),
    ...(await clockViolations(dataSource)),
    ...(await searchLanguageViolations(application)),
  ];
  const unreadable = new Set(
    found.flatMap(({ resource, affectsColumns }) => (affectsColumns ? [resource] : [])),
  );
  // The statements of lists name columns that may be missing.
  if (unreadable.size === 0) {
    violations.push(...(await failingLists(application)));
    violations.push(...(await unscopedReads(application)));
    violations.push(...(await missingIndexes(application)));
    violations.push(...(await uncarriedFilters(application)));
  }
  for (const metadata of resourcesOf(dataSource).values()) {
    if (unreadable.has(nameOf(metadata))) continue;
    violations.push(...(await brokenReferences(dataSource, metadata)));
    violations.push(...(await checkViolations(dataSource, metadata)));
    violations.push(...(await cycles(dataSource, metadata)));
    violations.push(
      ...(isTallied(metadata)
        ? [
            ...(await miscounts(dataSource, metadata)),
            ...(await untimedChanges(dataSource, metadata)),
          ]
        : await repeatedIdentifiers(dataSource, metadata)),
    );
  }
  return violations;
}

/** Indexes that PostgreSQL does not use, such as after an aborted `CREATE INDEX CONCURRENTLY`. */
async function invalidIndexes(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ index: string; table: string }[]>(
    `SELECT indexrelid::regclass::text AS index, indrelid::regclass::text AS table
     FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
     WHERE relnamespace = current_schema()::regnamespace AND NOT (indisvalid AND indisready)`,
  );
  return rows.map(({ index, table }) => `the index ${index} on ${table} is not valid`);
}

/** Whether times of further changes would be behind the watermark, or far ahead of the clock. */
async function clockViolations(dataSource: DataSource): Promise<string[]> {
  const [watermark] = await dataSource.query<{ behind: boolean; ahead: number }[]>(
    `SELECT coalesce(greatest(until, next_until) > coalesce(bound, '-infinity'), false) AS behind,
       coalesce(extract(epoch FROM bound - clock_timestamp()), 0)::integer AS ahead
     FROM watermark, to_timestamp(pg_sequence_last_value('watermark_floor') / 1000::float8) bound`,
  );
  const found: string[] = [];
  if (watermark?.behind) {
    found.push('the sequence watermark_floor is behind the watermark: SELECT advance_watermark()');
  }
  if (watermark && watermark.ahead > MAX_CLOCK_LAG) {
    found.push(
      `the clock of the database is ${watermark.ahead} s behind the last changes: it was set back`,
    );
  }
  return found;
}

async function searchLanguageViolations(application: INestApplicationContext): Promise<string[]> {
  const { searchLanguage } = application.get(Settings);
  const dataSource = application.get(DataSource);
  const difference = await searchLanguageDifference(dataSource, searchLanguage);
  const foreign = await foreignSearches(dataSource);
  return [
    ...(difference === undefined ? [] : [difference]),
    ...foreign.map(
      (resource) =>
        `the trigger that sets the words of ${resource} is of an older form: SELECT install_words('${resource}', '{<its columns>}'), rebuild_words('${resource}')`,
    ),
  ];
}

/** Foreign keys without a target, which a disabled trigger or a damaged index can allow. */
async function brokenReferences(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<string[]> {
  const found: string[] = [];
  for (const { columns, referencedColumns, referencedEntityMetadata } of metadata.foreignKeys) {
    const [column, key] = [columns[0]?.databaseName, referencedColumns[0]?.databaseName];
    const target = nameOf(referencedEntityMetadata);
    const count = await counted(
      dataSource,
      `SELECT count(*) FROM ${tableOf(metadata)} object WHERE "${column}" IS NOT NULL
       AND NOT EXISTS (SELECT FROM ${tableOf(referencedEntityMetadata)} target WHERE target."${key}" = object."${column}")`,
    );
    if (count > 0)
      found.push(`${count} ${nameOf(metadata)} name ${target} by ${column} that are not there`);
  }
  return found;
}

/** Rows that violate a check constraint, which can be added as NOT VALID. */
async function checkViolations(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<string[]> {
  const found: string[] = [];
  for (const { name, expression } of metadata.checks) {
    const count = await counted(
      dataSource,
      `SELECT count(*) FROM ${tableOf(metadata)} WHERE NOT (${expression})`,
    );
    if (count > 0) found.push(`${count} ${nameOf(metadata)} break the rule ${name}: ${expression}`);
  }
  return found;
}

/** Objects of a tree that are their own ancestors. */
async function cycles(dataSource: DataSource, metadata: EntityMetadata): Promise<string[]> {
  const found = await findCycle(dataSource.manager, metadata);
  return found.map(
    (object) => `${nameOf(metadata)} ${object} is below itself by ${parentColumnOf(metadata)}`,
  );
}

/** Identifiers of a table of others that several objects have, or that are missing: a view has no key. */
async function repeatedIdentifiers(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<string[]> {
  const { databaseName: identifier } = identifierOf(metadata);
  const rows = await dataSource.query<{ identifier: string | null; count: string }[]>(
    `SELECT "${identifier}" AS identifier, count(*) FROM ${tableOf(metadata)} GROUP BY 1
     HAVING count(*) > 1 OR "${identifier}" IS NULL ORDER BY 1 LIMIT 20`,
  );
  return rows.map(
    (row) => `${row.count} ${nameOf(metadata)} have the ${identifier} ${String(row.identifier)}`,
  );
}

/** Objects of a tracked table of others that no filter by the time of the last change finds. */
async function untimedChanges(dataSource: DataSource, metadata: EntityMetadata): Promise<string[]> {
  const resource = nameOf(metadata);
  if (
    !hasChangesTable(metadata) ||
    !(await readTracking(dataSource, [resource])).get(resource)?.recorded
  )
    return [];
  const { databaseName: identifier } = identifierOf(metadata);
  const count = await counted(
    dataSource,
    `SELECT count(*) FROM ${tableOf(metadata)} object
     WHERE NOT EXISTS (SELECT FROM ${changesTable(resource)} changed WHERE changed."${identifier}" = object."${identifier}")`,
  );
  return count === 0
    ? []
    : [`${count} ${resource} have no time of their last change: run SELECT track_table(…) again`];
}

async function counted(dataSource: DataSource, statement: string): Promise<number> {
  const [{ count }] = await dataSource.query<[{ count: string }]>(statement);
  return Number(count);
}
