import type { DataSource, EntityMetadata } from 'typeorm';
import { hasRows } from '../database/installed-resource.js';
import { pendingMigrations } from '../database/migrate.js';
import { type LockContext, withShortLocks } from '../database/migration-lock.js';
import { ownResources } from '../resource/resource.js';
import { MIGRATION } from './difference.js';
import { tableDifferences } from './differences.js';
import type { Queries } from './parts/part.js';
import { isForSpeed, readParts } from './parts/parts.js';

/** A part of a resource that is to be installed. */
interface PlannedPart {
  readonly resource: string;
  /** By what an operator calls it. */
  readonly name: string;
  /** How what is installed differs from what is declared. */
  readonly differences: readonly string[];
  readonly statements: readonly string[];
  /** Whether the table has rows. */
  readonly isFilled: boolean;
  /** Whether others write while it is installed. */
  readonly isConcurrent: boolean;
}

/** A part that was installed. */
export interface InstalledPart extends PlannedPart {
  readonly seconds: number;
}

/**
 * What is to be installed for the resources, in this order. A resource whose table is not as declared is left out. Reads no
 * objects.
 *
 * @param exact whether what is not declared is removed
 * @returns the parts, and the resources that are left out, as lines
 */
async function plannedParts(
  queries: Queries,
  dataSource: DataSource,
  exact: boolean,
): Promise<{ parts: PlannedPart[]; leftOut: string[] }> {
  const resources = ownResources(dataSource);
  const leftOut = await leftOutResources(dataSource);
  const partsOf = await readParts(queries, [...resources.keys()]);
  const planned: PlannedPart[] = [];
  for (const [resource, metadata] of resources) {
    if (leftOut.includes(resource)) continue;
    planned.push(...(await ofResource(metadata)));
  }
  const why = `since its table is not as declared; ${MIGRATION}`;
  return { parts: planned, leftOut: leftOut.map((resource) => `${resource} is left out, ${why}`) };

  async function ofResource(metadata: EntityMetadata): Promise<PlannedPart[]> {
    const { tableName: resource } = metadata;
    const found: PlannedPart[] = [];
    for (const { name, part, installed } of partsOf(metadata)) {
      const statements = part.statements(metadata, installed, exact);
      if (statements.length === 0) continue;
      const isFilled = await hasRows(queries, `"${resource}"`);
      // Indexes of an empty table need not wait for the snapshots of others.
      const isConcurrent = isForSpeed(part) && isFilled;
      found.push({
        resource,
        name,
        differences: part.differences(metadata, installed).map(({ text }) => text),
        statements: isConcurrent ? statements.map(concurrently) : statements,
        isFilled,
        isConcurrent,
      });
    }
    return found;
  }
}

/** The resources whose tables are not as declared, so that nothing can be installed for them. */
async function leftOutResources(dataSource: DataSource): Promise<string[]> {
  const differences = await tableDifferences(dataSource);
  const affected = differences.filter(({ affectsColumns }) => affectsColumns);
  return [...new Set(affected.map(({ resource }) => resource ?? ''))];
}

/** Installs what follows from the declarations of resources, and removes the rest if it must be `exact`. */
export async function installParts(
  context: LockContext,
  dataSource: DataSource,
  exact: boolean,
): Promise<InstalledPart[]> {
  const { runner, signal, onWaiting } = context;
  const installed: InstalledPart[] = [];
  const { parts, leftOut } = await plannedParts(runner.manager, dataSource, exact);
  for (const line of leftOut) onWaiting(line);
  for (const part of parts) {
    signal?.throwIfAborted();
    if (part.isFilled) onWaiting(`Installing the ${part.name} of ${part.resource}`);
    const start = performance.now();
    const install = async (): Promise<void> => {
      for (const statement of part.statements) await runner.query(statement);
    };
    await withShortLocks(
      `The ${part.name} of ${part.resource}`,
      context,
      install,
      !part.isConcurrent,
    );
    installed.push({ ...part, seconds: (performance.now() - start) / 1000 });
  }
  return installed;
}

/** What was installed, for an operator. */
export function installedLine({
  resource,
  name,
  seconds,
  isFilled,
  isConcurrent,
}: InstalledPart): string {
  const locked = isConcurrent || !isFilled ? '' : ', lists and writers of its table waited';
  return `Installed the ${name} of ${resource} in ${seconds.toFixed(1)} s${locked}`;
}

function concurrently(statement: string): string {
  return statement.replace(/^(CREATE|DROP) INDEX /, '$1 INDEX CONCURRENTLY ');
}

/**
 * What `catalogue migrate` would do, as lines: the pending migrations, and the statements that install and remove parts, each
 * with the size of the table that it reads.
 */
export async function plannedChanges(dataSource: DataSource): Promise<string[]> {
  const pending = await pendingMigrations(dataSource);
  const lines = pending.map((name) => `Apply the migration ${name}`);
  // Without its functions, what is installed cannot be read.
  if (pending.some((name) => name.startsWith('engine ')))
    return [...lines, 'Then install what the resources declare, where it is lacking'];
  const { parts, leftOut } = await plannedParts(dataSource, dataSource, true);
  for (const { resource, name, differences, statements, isConcurrent } of parts) {
    const [{ size }] = await dataSource.query<[{ size: string }]>(
      'SELECT pg_size_pretty(pg_table_size(quote_ident($1))) AS size',
      [resource],
    );
    const lock = isConcurrent ? 'lists and writers go on' : 'lists and writers wait';
    lines.push(
      `Install the ${name} of ${resource} (${size}, ${lock}), since`,
      ...differences.map((text) => `  ${text}`),
      'by',
      ...statements.map((statement) => `  ${statement}`),
    );
  }
  // A table that a pending migration changes is not as declared until then.
  if (pending.length === 0) lines.push(...leftOut);
  else lines.push('What the pending migrations make necessary comes after them');
  return lines.length > 0 ? lines : ['There is nothing to do'];
}
