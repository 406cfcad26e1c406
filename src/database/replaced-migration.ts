import type { Migration, MigrationExecutor, MigrationInterface, QueryRunner } from 'typeorm';
import { CommandError } from '../command-error.js';
import { definitionOf, dropResource, hasContent, hasTable } from './installed-resource.js';

/** A migration that the generator of resources has written has the resource whose table it creates. */
export interface GeneratedMigration extends MigrationInterface {
  readonly creates?: string;
}

/**
 * Replaces the applied migration of a resource that was generated, migrated, taken back with git, and generated
 * again: its table is there, and the file of the migration is gone. A table as the new migration creates it is kept.
 * Another one is dropped if it has neither objects nor deletions.
 *
 * @returns whether the table is kept: the migration is recorded in place of the former one, and must not run
 * @throws CommandError if the table differs and has objects or deletions, or if no migration has created it
 */
export async function replaceMigration(
  migration: Migration,
  executor: MigrationExecutor,
  runner: QueryRunner,
): Promise<boolean> {
  const generated: GeneratedMigration | undefined = migration.instance;
  const resource = generated?.creates;
  if (resource === undefined || !(await hasTable(runner.manager, `"${resource}"`))) return false;
  const former = await replacedMigration(migration, executor, runner);
  if (!former) {
    throw new CommandError(
      `The table ${resource} is there already, and no migration of this service has created it: ` +
        `rename it, or generate the resource under another name`,
    );
  }
  const there = await definitionOf(runner, resource);
  // The outcome of the migration is seen on trial, since the database may not have a scratch database.
  await runner.query('SAVEPOINT trial');
  await dropResource(runner, resource, { cascade: true });
  await migration.instance?.up(runner);
  const isSame = (await definitionOf(runner, resource)) === there;
  await runner.query('ROLLBACK TO SAVEPOINT trial');
  await executor.deleteMigration(former);
  if (isSame) {
    await executor.insertMigration(migration);
    return true;
  }
  if (await hasContent(runner, resource)) {
    throw new CommandError(
      `The table ${resource} is there already, and differs from that of ${migration.name}: ` +
        `the file of ${former.name}, which created it, is gone. Bring it back in place of the new one, ` +
        `or drop the table with its objects: catalogue drop ${resource} --destructive`,
    );
  }
  await dropResource(runner, resource);
  return false;
}

/** The applied migration of the same name, except for its time, that has no file. */
async function replacedMigration(
  { name }: Migration,
  executor: MigrationExecutor,
  runner: QueryRunner,
): Promise<Migration | undefined> {
  const files = runner.dataSource.migrations.map((each) => each.name ?? each.constructor.name);
  const applied = await executor.getExecutedMigrations();
  return applied.find(
    (former) => withoutTime(former.name) === withoutTime(name) && !files.includes(former.name),
  );
}

function withoutTime(name: string): string {
  return name.replace(/\d{13}$/, '');
}
