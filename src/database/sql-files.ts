import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { QueryRunner } from 'typeorm';

/** Runs the statements of an SQL file of this folder, such as `baseline/brands.sql`. */
export async function runSqlFile(runner: QueryRunner, file: string): Promise<void> {
  await runner.query(await readFile(join(import.meta.dirname, file), 'utf8'));
}

/** Creates the functions of files in `functions`, or replaces them. */
export async function applyFunctions(runner: QueryRunner, files: readonly string[]): Promise<void> {
  // A function may call one that is created later.
  await runner.query('SET LOCAL check_function_bodies = off');
  for (const file of files) await runSqlFile(runner, join('functions', file));
}
