import { DataSource } from 'typeorm';
import { driverErrorOf } from '../database/database-failure.js';
import { applyMigrations, type MigrateOptions, withMigrationLock } from '../database/migrate.js';
import { databaseOptions } from '../database/database-client.js';
import { ownResources } from '../resource/resource.js';
import { checkOwners, checkReadable } from './differences.js';
import { type InstalledPart, installParts } from './install-parts.js';

interface DeclaredOptions extends MigrateOptions {
  /** The language of searches in a new database. Default: `simple`. */
  readonly searchLanguage?: string;
  /** The entities whose parts are installed. Called after the migrations. Default: nothing is installed. */
  readonly declared?: () => Promise<DataSource>;
  /** Whether what is not declared is removed. It must not be while an instance of another release may need it. */
  readonly exact?: boolean;
}

/**
 * Applies all pending migrations, and installs what follows from the declarations of resources. If several processes
 * start at once, one does so and the others wait for it.
 *
 * @returns the names of the applied migrations, and what was installed
 * @throws CommandError if the signal is aborted, if the database does not have the language, if this version does not
 * know its baseline, if a migration creates what is there, or if tables belong to several roles
 */
export function migrate(
  url: string,
  { searchLanguage = 'simple', declared, exact = false, ...options }: DeclaredOptions,
): Promise<{ migrations: string[]; installed: InstalledPart[] }> {
  return withMigrationLock(url, options, async (context) => {
    const applied = await applyMigrations(context, searchLanguage);
    const dataSource = await declared?.();
    const installed = dataSource ? await installParts(context, dataSource, exact) : [];
    return { migrations: applied, installed };
  }).catch(async (error: unknown) => {
    if (DENIED.includes(driverErrorOf(error).code ?? '')) {
      const dataSource = await declared?.();
      await checkOwnership(url, dataSource ? [...ownResources(dataSource).keys()] : []);
    }
    throw error;
  });
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html: insufficient_privilege; invalid_schema_name and
// undefined_function where the role may not use the schema
const DENIED = ['42501', '3F000', '42883'];

/** @throws CommandError if the user, or the owner of a resource, may not use the tables of another role */
async function checkOwnership(url: string, resources: string[]): Promise<void> {
  const dataSource = await new DataSource(databaseOptions(url)).initialize();
  try {
    await checkReadable(dataSource);
    await checkOwners(dataSource, resources);
  } finally {
    await dataSource.destroy();
  }
}
