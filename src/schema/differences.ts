import type { DataSource, EntityMetadata } from 'typeorm';
import { countedColumnsOf, resourcesOf } from '../resource/resource.js';
import { schemaChanges } from './schema-changes.js';
import { createUpdatedAtTrigger, installDeletions, installTally } from './install-statements.js';

/** A difference between a database and what the entities say, found without reading any object. */
export interface Difference {
  readonly text: string;
  /** What puts it right, as an imperative. */
  readonly remedy: string;
  /** The resource whose lists it may make wrong or fail. */
  readonly resource?: string;
  /** Whether it is about columns, so that the data cannot be compared before it is put right. */
  readonly isOfColumns?: true;
  /** Whether the database merely has more than the entities ask for. */
  readonly isSurplus?: true;
}

/** A difference as a line for an operator. */
export function lineOf({ text, remedy }: Difference): string {
  return `${text}; ${remedy}`;
}

/**
 * Compares entities, tables, tallies and triggers, in some 50 ms.
 *
 * @throws QueryFailedError where a migration of the catalogue itself is missing
 */
export async function differences(dataSource: DataSource): Promise<Difference[]> {
  const resources = resourcesOf(dataSource);
  const found = await schemaDifferences(dataSource, resources);
  const tallies = await talliesOf(dataSource);
  const triggers = await triggersOf(dataSource);
  for (const { table, name, state } of triggers) {
    if (state === 'O' || state === 'A') continue;
    const isKept = /_(tally|deletions)_[a-z]+$/.test(name);
    found.push({
      text: `the trigger ${name} on ${table} is disabled`,
      remedy: `run ALTER TABLE "${table}" ENABLE ${isKept ? 'ALWAYS ' : ''}TRIGGER "${name}"`,
      resource: resources.has(table) ? table : undefined,
    });
  }
  for (const [resource, metadata] of resources) {
    // Its table or a column is missing: what it needs beside them is told once they are there.
    if (found.some((other) => other.resource === resource && other.isOfColumns)) continue;
    const own = triggers.filter(({ table }) => table === resource);
    const upkeep = [
      ...virtualColumns(metadata),
      ...updatedAtDifferences(metadata, own),
      ...deletionsDifferences(metadata, own),
      ...tallyDifferences(metadata, tallies.get(resource), own),
    ];
    found.push(...upkeep.map((difference) => ({ ...difference, resource })));
  }
  return found;
}

/** The first writes what the migrations lack, the second changes the database. */
const MIGRATION = 'run npm run migration -- <name> and catalogue migrate';

async function schemaDifferences(
  dataSource: DataSource,
  resources: ReadonlyMap<string, EntityMetadata>,
): Promise<Difference[]> {
  const { up } = await schemaChanges(dataSource);
  return up.map((statement) => {
    const [, table = ''] = /^(?:CREATE|ALTER) TABLE (?:"\w+"\.)?"(\w+)"/.exec(statement) ?? [];
    const isOfColumns = resources.has(table) && !/ (ADD|DROP) CONSTRAINT /.test(statement);
    const isSurplus = SURPLUS.test(statement);
    return {
      text: `the schema is not as declared, this is lacking: ${statement}`,
      remedy: MIGRATION,
      ...(isOfColumns && !isSurplus && { resource: table, isOfColumns }),
      ...(isSurplus && { isSurplus }),
    };
  });
}

/** What takes away something that the entities do not ask for. */
const SURPLUS = /^DROP INDEX |^ALTER TABLE \S+ DROP (COLUMN|CONSTRAINT) /;

/** By resource, the columns that its tally counts. */
async function talliesOf(dataSource: DataSource): Promise<Map<string, readonly string[]>> {
  const rows = await dataSource.query<{ resource: string; counted: string[] }[]>(
    'SELECT resource, counted FROM tallies',
  );
  return new Map(rows.map(({ resource, counted }) => [resource, counted]));
}

interface Trigger {
  readonly table: string;
  readonly name: string;
  /** https://www.postgresql.org/docs/current/catalog-pg-trigger.html */
  readonly state: string;
  /** The name of its function. */
  readonly keeper: string;
}

function triggersOf(dataSource: DataSource): Promise<Trigger[]> {
  return dataSource.query<Trigger[]>(
    `SELECT relname AS table, tgname AS name, tgenabled AS state, proname AS keeper
     FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
     WHERE relnamespace = current_schema()::regnamespace ORDER BY relname, tgname`,
  );
}

function virtualColumns({ tableName, columns }: EntityMetadata): Difference[] {
  return columns
    .filter(({ isVirtualProperty }) => isVirtualProperty)
    .map(({ propertyName }) => ({
      text: `${tableName}.${propertyName} is a virtual column, which no list can show`,
      remedy: 'declare a column of the table in its place',
    }));
}

/** `updatedAt` is the database's to keep, on every resource. */
function updatedAtDifferences(
  metadata: EntityMetadata,
  triggers: readonly Trigger[],
): Difference[] {
  if (!metadata.updateDateColumn) return [];
  if (triggers.some(({ keeper }) => keeper === 'keep_updated_at')) return [];
  const { databaseName } = metadata.updateDateColumn;
  return [
    {
      text: `${metadata.tableName} has no trigger that keeps ${databaseName}`,
      remedy: orMigration(createUpdatedAtTrigger(metadata)),
    },
  ];
}

/** Every deletion must be recorded, also those by other writers. */
function deletionsDifferences(
  metadata: EntityMetadata,
  triggers: readonly Trigger[],
): Difference[] {
  const { tableName } = metadata;
  const missing = missingTriggers(`${tableName}_deletions`, DELETIONS, triggers);
  if (missing.length === 0) return [];
  return [
    {
      text: `${tableName} has no trigger ${missing.join(', ')}`,
      remedy: orMigration(installDeletions(metadata)),
    },
  ];
}

const DELETIONS = ['delete', 'rename', 'truncate'];
const WRITES = ['insert', 'update', 'delete', 'truncate'];

function tallyDifferences(
  metadata: EntityMetadata,
  installed: readonly string[] | undefined,
  triggers: readonly Trigger[],
): Difference[] {
  const { tableName } = metadata;
  const counted = countedColumnsOf(metadata);
  const remedy = orMigration(installTally(metadata, counted));
  if (!installed) return [{ text: `${tableName} has no tally`, remedy }];
  const found = missingTriggers(`${tableName}_tally`, WRITES, triggers).map(
    (trigger): Difference => ({ text: `${tableName} has no trigger ${trigger}`, remedy }),
  );
  const lacking = counted.filter((column) => !installed.includes(column));
  if (lacking.length > 0 || installed.length > counted.length) {
    const text = `the tally of ${tableName} counts by ${named(installed)}, its entity by ${named(counted)}`;
    found.push({ text, remedy, ...(lacking.length === 0 && { isSurplus: true as const }) });
  }
  return found;
}

/** The migration lacks it, or somebody took it away afterwards. */
function orMigration(statement: string): string {
  return `${MIGRATION}, or if a migration has it already: ${statement}`;
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
