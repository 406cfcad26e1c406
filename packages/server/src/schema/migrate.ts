import type { DataSource } from 'typeorm';
import { applyMigrations, type MigrateOptions, withMigrationLock } from '../database/migrate.js';
import { type InstalledPart, installParts } from './install-parts.js';

export interface DeclaredOptions extends MigrateOptions {
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
 * know its baseline, or if a migration creates what is there
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
  });
}
