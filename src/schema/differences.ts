import type { DataSource, EntityMetadata } from 'typeorm';
import { createIndex } from '../resource/list-indexes.js';
import { externalTableOf, ownResourcesOf, resourcesOf } from '../resource/resource.js';
import { type Difference, MIGRATION, orMigration } from './difference.js';
import { externalDifferences } from './external-differences.js';
import { trackingDifferences } from './tracking-differences.js';
import { schemaChanges } from './schema-changes.js';
import { type RecordedColumns, recordedColumnsOf } from './recorded-columns.js';
import {
  createUpdatedAtTrigger,
  deletionColumnsOf,
  dropIndex,
  installDeletions,
  installTally,
  type TallyColumns,
  tallyColumnsOf,
} from './install-statements.js';
import { talliesOf } from './installed-tallies.js';
import { listIndexChanges, type ListIndexChanges } from './list-indexes.js';
import { surplusResources } from './surplus-resources.js';

/**
 * Compares the entities with tables, indexes, tallies and triggers. Reads no objects; takes about 50 ms.
 *
 * @throws QueryFailedError if a migration of the service itself is missing
 */
export async function differences(dataSource: DataSource): Promise<Difference[]> {
  const resources = ownResourcesOf(dataSource);
  const found = await schemaDifferences(dataSource, resources);
  const tallies = await talliesOf(dataSource);
  const triggers = await triggersOf(dataSource);
  const recorded = await recordedColumnsOf(dataSource);
  const indexes = await listIndexChanges(dataSource);
  for (const { table, name, state } of triggers) {
    if (state === 'O' || state === 'A') continue;
    const isAlways = /_(tally|deletions)_[a-z]+$/.test(name);
    found.push({
      text: `the trigger ${name} on ${table} is disabled`,
      remedy: `run ALTER TABLE "${table}" ENABLE ${isAlways ? 'ALWAYS ' : ''}TRIGGER "${name}"`,
      resource: resources.has(table) ? table : undefined,
    });
  }
  for (const resource of await surplusResources(dataSource)) {
    found.push({
      text: `the database has the resource ${resource}, which the code has not`,
      remedy: `bring its code back, or run catalogue drop ${resource}`,
      isSurplus: true,
    });
  }
  for (const [resource, metadata] of resourcesOf(dataSource)) {
    const external = externalTableOf(metadata);
    if (!external) continue;
    const columns = await externalDifferences(dataSource, metadata, external);
    const differing =
      columns.length > 0 ? columns : await trackingDifferences(dataSource, metadata, external);
    found.push(...differing.map((difference) => ({ ...difference, resource })));
  }
  for (const [resource, metadata] of resources) {
    // If its table or a column is missing, the rest is reported after that is fixed.
    if (found.some((other) => other.resource === resource && other.affectsColumns)) continue;
    const own = triggers.filter(({ table }) => table === resource);
    const differing = [
      ...updatedAtDifferences(metadata, own),
      ...deletionsDifferences(metadata, own, recorded.get(resource)),
      ...tallyDifferences(metadata, tallies.get(resource), own),
    ];
    found.push(...differing.map((difference) => ({ ...difference, resource })));
    // Of no resource: without an index its lists are slow, but right.
    found.push(...listIndexDifferences(metadata, indexes.get(metadata)));
  }
  return found;
}

async function schemaDifferences(
  dataSource: DataSource,
  resources: ReadonlyMap<string, EntityMetadata>,
): Promise<Difference[]> {
  const { up } = await schemaChanges(dataSource);
  return up.map((statement) => {
    const [, table = ''] = /^(?:CREATE|ALTER) TABLE (?:"\w+"\.)?"(\w+)"/.exec(statement) ?? [];
    const affectsColumns = resources.has(table) && !/ (ADD|DROP) CONSTRAINT /.test(statement);
    const isSurplus = SURPLUS.test(statement);
    return {
      text: `the schema is not as declared, this is lacking: ${statement}`,
      remedy: MIGRATION,
      ...(affectsColumns && !isSurplus && { resource: table, affectsColumns }),
      ...(isSurplus && { isSurplus }),
    };
  });
}

/** Statements that remove what the entities do not declare. */
const SURPLUS = /^DROP INDEX |^ALTER TABLE \S+ DROP (COLUMN|CONSTRAINT) /;

interface Trigger {
  readonly table: string;
  readonly name: string;
  /** https://www.postgresql.org/docs/current/catalog-pg-trigger.html */
  readonly state: string;
  /** The name of its function. */
  readonly functionName: string;
}

/** Without those on tables of others, which may be in the same schema. */
function triggersOf(dataSource: DataSource): Promise<Trigger[]> {
  return dataSource.query<Trigger[]>(
    `SELECT relname AS table, tgname AS name, tgenabled AS state, proname AS "functionName"
     FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
     WHERE relnamespace = current_schema()::regnamespace
     AND proname NOT IN (
       SELECT format('keep_%s_%s', resource, kept) FROM tallies, unnest('{tally,changes}'::text[]) kept
       WHERE tracked IS NOT NULL
     )
     ORDER BY relname, tgname`,
  );
}

/** Every resource with `updatedAt` needs the trigger that sets it. */
function updatedAtDifferences(
  metadata: EntityMetadata,
  triggers: readonly Trigger[],
): Difference[] {
  if (!metadata.updateDateColumn) return [];
  if (triggers.some(({ functionName }) => functionName === 'keep_updated_at')) return [];
  const { databaseName } = metadata.updateDateColumn;
  return [
    {
      text: `${metadata.tableName} has no trigger that keeps ${databaseName}`,
      remedy: orMigration(createUpdatedAtTrigger(metadata)),
    },
  ];
}

/** Every resource needs the table of deletions with the columns of its scope, and the triggers that record them. */
function deletionsDifferences(
  metadata: EntityMetadata,
  triggers: readonly Trigger[],
  recorded?: RecordedColumns,
): Difference[] {
  const { tableName } = metadata;
  const remedy = orMigration(installDeletions(metadata));
  const missing = missingTriggers(`${tableName}_deletions`, DELETIONS, triggers);
  if (missing.length > 0) {
    return [{ text: `${tableName} has no trigger ${missing.join(', ')}`, remedy }];
  }
  if (!recorded) return [{ text: `${tableName} has no table ${tableName}_deletions`, remedy }];
  if (recorded.areAsDeclared) return [];
  const [there, wanted] = [recorded.installed, deletionColumnsOf(metadata)].map(named);
  const text = `the deletions of ${tableName} record ${there} of its columns, its scope names ${wanted}`;
  return [{ text: there === wanted ? `${text} of other types` : text, remedy }];
}

/** Every list needs the indexes that follow from its filtered and sorted columns. */
function listIndexDifferences(
  { tableName }: EntityMetadata,
  { missing, surplus }: ListIndexChanges = { missing: [], surplus: [] },
): Difference[] {
  return [
    ...missing.map((index): Difference => {
      const create = createIndex(tableName, index);
      return surplus.some(({ name }) => name === index.name)
        ? {
            text: `the index ${index.name} on ${tableName} is not as declared`,
            remedy: orMigration(`${dropIndex(index)}; ${create}`),
          }
        : { text: `${tableName} has no index ${index.name}`, remedy: orMigration(create) };
    }),
    ...surplus
      .filter(({ name }) => !missing.some((index) => index.name === name))
      .map((index): Difference => ({
        text: `the index ${index.name} on ${tableName} is not declared`,
        remedy: orMigration(dropIndex(index)),
        isSurplus: true,
      })),
  ];
}

const DELETIONS = ['delete', 'rename', 'truncate'];
const WRITES = ['insert', 'update', 'delete', 'truncate'];

function tallyDifferences(
  metadata: EntityMetadata,
  installed: TallyColumns | undefined,
  triggers: readonly Trigger[],
): Difference[] {
  const { tableName } = metadata;
  const declared = tallyColumnsOf(metadata);
  const remedy = orMigration(installTally(metadata, declared));
  if (!installed) return [{ text: `${tableName} has no tally`, remedy }];
  const found = missingTriggers(`${tableName}_tally`, WRITES, triggers).map(
    (trigger): Difference => ({ text: `${tableName} has no trigger ${trigger}`, remedy }),
  );
  const compared = [
    ['counts', installed.counted, declared.counted],
    ['has ranges', installed.sorted, declared.sorted],
    ['counts words', installed.searched, declared.searched],
    ['counts intervals', installed.intervals, declared.intervals],
  ] as const;
  for (const [does, there, wanted] of compared) {
    const isComplete = wanted.every((column) => there.includes(column));
    if (isComplete && there.length === wanted.length) continue;
    const text = `the tally of ${tableName} ${does} by ${named(there)}, its entity by ${named(wanted)}`;
    found.push({ text, remedy, ...(isComplete && { isSurplus: true as const }) });
  }
  return found;
}

function missingTriggers(
  prefix: string,
  operations: readonly string[],
  triggers: readonly Trigger[],
): string[] {
  return operations
    .map((operation) => `${prefix}_${operation}`)
    .filter((trigger) => !triggers.some(({ name }) => name === trigger));
}

function named(columns: readonly string[]): string {
  return columns.length === 0 ? 'nothing' : columns.join(', ');
}
