import type { DataSource, EntityMetadata, QueryRunner } from 'typeorm';
import { CommandError } from '../command-error.js';
import { dropResource, hasContent, hasTable } from '../database/installed-resource.js';
import { migrationNames, pendingMigrations } from '../database/migrate.js';
import { takeMigrationLock, withShortLocks } from '../database/migration-lock.js';
import { hasOwnTable, resourcesOf, tableOf } from '../resource/resource.js';
import { installedResources } from '../schema/differences.js';
import { notMigrated } from './open-catalogue.js';
import { stopSignal } from './stop-signal.js';

/**
 * Drops what the service installed for a resource that has no entity any more, or whose entity was
 * generated again and is not migrated yet.
 *
 * @param destructive whether objects and deletions may be lost
 * @throws CommandError if the database was never migrated, if it has no such resource, if the code has it, if
 * its table is external, or if data would be lost
 */
export async function dropSurplusResource(
  dataSource: DataSource,
  resource: string,
  destructive: boolean,
): Promise<void> {
  const own = resourcesOf(dataSource).get(resource);
  if (own && !hasOwnTable(own)) {
    throw new CommandError(
      `${resource} lists ${tableOf(own)}, an external table, which the service never drops`,
    );
  }
  if (!(await hasTable(dataSource.manager, 'tallies'))) throw notMigrated();
  if (!(await installedResources(dataSource)).includes(resource)) {
    throw new CommandError(`The database has no resource ${resource}`);
  }
  const runner = dataSource.createQueryRunner();
  const context = { runner, onWaiting: console.error, signal: stopSignal() };
  try {
    await takeMigrationLock(context);
    await withShortLocks(`drop ${resource}`, context, () =>
      drop(runner, own, resource, destructive),
    );
  } finally {
    await runner.release();
  }
}

async function drop(
  runner: QueryRunner,
  own: EntityMetadata | undefined,
  resource: string,
  destructive: boolean,
): Promise<void> {
  const pending = await pendingMigrations(runner.dataSource);
  const creation = new RegExp(`^Create${classPart(resource)}\\d{13}$`);
  const isGeneratedAgain = pending.some((name) => creation.test(name));
  if (own && !isGeneratedAgain) {
    throw new CommandError(`The code has the resource ${resource}: remove it there first`);
  }
  if (!destructive && (await hasContent(runner, resource))) {
    throw new CommandError(
      `${resource} has objects or deletions, which are lost: drop it with --destructive`,
    );
  }
  await dropResource(runner, resource);
  // Its file may be brought back, and must run then.
  await runner.query('DELETE FROM migrations WHERE name ~ $1 AND name <> ALL ($2)', [
    creation.source,
    migrationNames(runner.dataSource),
  ]);
}

/** A resource in the name of the migration that creates it: `OrderItems`. */
function classPart(resource: string): string {
  return resource.replace(/(?:^|_)(.)/g, (_, first: string) => first.toUpperCase());
}
