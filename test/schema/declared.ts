import { migrateProject } from '#server/testing/database.js';
import { DataSource } from 'typeorm';
import { followColumns } from '#server/database/follow-columns.js';
import { type InstalledPart, installParts } from '#server/schema/install-parts.js';
import { schemaChanges } from '#server/schema/schema-changes.js';
import { PROJECT } from '../project.js';

/** Runs statements as a migration does. */
export async function migrateBy(
  dataSource: DataSource,
  statements: readonly string[],
): Promise<void> {
  await dataSource.transaction(async ({ queryRunner }) => {
    if (!queryRunner) throw new Error('A transaction has a connection');
    await followColumns(queryRunner, async () => {
      for (const statement of statements) await queryRunner.query(statement);
    });
  });
}

/** Installs what follows from the declarations, as `migrate` does if it must be exact, and else as `start` does. */
export async function installDeclared(
  dataSource: DataSource,
  exact = false,
): Promise<InstalledPart[]> {
  const runner = dataSource.createQueryRunner();
  const onWaiting = (line: string): void => {
    console.info(line);
  };
  try {
    return await installParts({ runner, onWaiting, signal: undefined }, dataSource, exact);
  } finally {
    await runner.release();
  }
}

/**
 * Creates the tables of all entities, and installs what follows from their declarations.
 *
 * @param between statements that run in between
 */
export async function createDeclared(
  dataSource: DataSource,
  between: readonly string[] = [],
): Promise<void> {
  const { up } = await schemaChanges(dataSource);
  await migrateBy(dataSource, [...up, ...between]);
  await installDeclared(dataSource);
}

/** Brings a database up to date as `catalogue migrate` does. */
export function migrateDatabase(url: string): Promise<void> {
  return migrateProject(PROJECT, url);
}
