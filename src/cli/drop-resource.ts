import type { DataSource } from 'typeorm';
import { CommandError } from '../command-error.js';
import { dropResource, hasContent } from '../database/installed-resource.js';
import { migrations, pendingMigrations } from '../database/migrate.js';
import type { GeneratedMigration } from '../database/replaced-migration.js';
import { externalTableOf, quotedTable, resourcesOf } from '../resource/resource.js';
import { installedResources } from '../schema/surplus-resources.js';

/**
 * Drops what the service installed for a resource that has no entity any more, or whose entity was
 * generated again and is not migrated yet.
 *
 * @param destructive whether objects and deletions may be lost
 * @throws CommandError if the database has no such resource, if the code has it, if its table is that of
 * others, or if data would be lost
 */
export async function dropSurplusResource(
  dataSource: DataSource,
  resource: string,
  destructive: boolean,
): Promise<void> {
  const own = resourcesOf(dataSource).get(resource);
  const external = own && externalTableOf(own);
  if (external) {
    throw new CommandError(
      `${resource} lists ${quotedTable(external)}, a table of others, which the service never drops`,
    );
  }
  if (!(await installedResources(dataSource)).includes(resource)) {
    throw new CommandError(`The database has no resource ${resource}`);
  }
  const pending = await pendingMigrations(dataSource);
  const isGeneratedAgain = pending.some(
    (migration) => (new migration() as GeneratedMigration).creates === resource,
  );
  if (own && !isGeneratedAgain) {
    throw new CommandError(`The code has the resource ${resource}: remove it there first`);
  }
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    if (!destructive && (await hasContent(runner, resource))) {
      throw new CommandError(
        `${resource} has objects or deletions, which are lost: drop it with --destructive`,
      );
    }
    await dropResource(runner, resource);
    // Its file may be brought back, and must run then.
    const known = (await migrations()).map(({ name }) => name);
    await runner.query('DELETE FROM migrations WHERE name ~ $1 AND name <> ALL ($2)', [
      `^(Create|Track)${classPart(resource)}\\d{13}$`,
      known,
    ]);
    await runner.commitTransaction();
  } catch (error) {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    throw error;
  } finally {
    await runner.release();
  }
}

/** A resource in the name of the migration that creates it: `OrderItems`. */
function classPart(resource: string): string {
  return resource.replace(/(?:^|_)(.)/g, (_, first: string) => first.toUpperCase());
}
