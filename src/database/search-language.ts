import type { QueryRunner } from 'typeorm';
import { CommandError } from '../command-error.js';

/** The setting of a session by which the migration that creates the words of searches chooses their language. */
const SETTING = 'catalogue.search_language';

/**
 * Chooses the language of a database whose words are not created yet, for the migrations of a session. Any other
 * database keeps its own.
 *
 * @throws CommandError if the database has no such language
 */
export async function chooseSearchLanguage(runner: QueryRunner, language: string): Promise<void> {
  await requireSearchLanguage(runner, language);
  await runner.query('SELECT set_config($1, $2, false)', [SETTING, language]);
}

/**
 * Requires a configuration of PostgreSQL itself, or one with its schema, such as `public.ours`.
 *
 * @throws CommandError if the database has no such language
 */
export async function requireSearchLanguage(
  database: { query(text: string, values: unknown[]): Promise<unknown> },
  language: string,
): Promise<void> {
  const rows = (await database.query(
    `SELECT FROM pg_ts_config JOIN pg_namespace ON pg_namespace.oid = cfgnamespace
     WHERE CASE nspname WHEN 'pg_catalog' THEN cfgname ELSE nspname || '.' || cfgname END = $1`,
    [language],
  )) as unknown[];
  if (rows.length > 0) return;
  throw new CommandError(
    `SEARCH_LANGUAGE must be a text search configuration of the database, such as simple or english, not ${language}`,
  );
}
