import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Runs the statements of an SQL file of this folder, such as `baseline/brands.sql`. */
export async function runSqlFile(runner: QueryRunner, file: string): Promise<void> {
  await runner.query(await readFile(join(import.meta.dirname, file), 'utf8'));
}

/** A migration that applies files of functions. */
export interface AppliesFunctions extends MigrationInterface {
  /** The beginning of the SHA-256 of each file, by its name. */
  readonly applies: Readonly<Record<string, string>>;
}

/** Files that are gone, of migrations that have landed. A later migration drops their functions. */
export const REMOVED: readonly string[] = ['tracking.sql'];

/** Creates the functions of the files that a migration names, or replaces them. */
export async function applyFunctions(
  runner: QueryRunner,
  { applies }: AppliesFunctions,
): Promise<void> {
  // A function may call one that is created later.
  await runner.query('SET LOCAL check_function_bodies = off');
  const files = Object.keys(applies).filter((file) => !REMOVED.includes(file));
  for (const file of files) await runSqlFile(runner, join('functions', file));
}
