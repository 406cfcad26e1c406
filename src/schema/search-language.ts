import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { CommandError } from '../command-error.js';
import { isLockTimeout } from '../database/database-failure.js';

/** Milliseconds to wait for a lock before which readers queue. */
const LOCK_TIMEOUT = 250;
/** Milliseconds before the next attempt. */
const RETRY_DELAY = 500;

/** The language of the words in the database. */
export async function storedSearchLanguage(dataSource: DataSource): Promise<string> {
  const [{ language }] = await dataSource.query<[{ language: string }]>(
    'SELECT search_language() AS language',
  );
  return language;
}

/**
 * Compares `SEARCH_LANGUAGE` with the language of the words in the database.
 *
 * @returns what differs and what to run, as a line
 * @throws CommandError if the database has no such language
 */
export async function searchLanguageDifference(
  dataSource: DataSource,
  language: string,
): Promise<string | undefined> {
  await requireSearchLanguage(dataSource, language);
  const stored = await storedSearchLanguage(dataSource);
  if (stored === language) return undefined;
  return `searches are in the language ${stored}, SEARCH_LANGUAGE is ${language}; run catalogue search rebuild`;
}

/**
 * Changes the language of searches, and computes the words of every resource anew, in one transaction.
 * Readers go on. Writers of these resources wait.
 *
 * @returns the resources
 * @throws CommandError if the database has no such language
 */
export async function rebuildSearch(dataSource: DataSource, language: string): Promise<string[]> {
  await requireSearchLanguage(dataSource, language);
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    const rows = (await runner.query('SELECT resource FROM searches ORDER BY resource')) as {
      resource: string;
    }[];
    const resources = rows.map(({ resource }) => resource);
    // Checked above: it has no quotes.
    await runner.query(
      `CREATE OR REPLACE FUNCTION search_language() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
       AS $$ SELECT '${language}' $$`,
    );
    for (const resource of resources) {
      await runner.query('SELECT rebuild_words($1)', [resource]);
      // For the choice of the counted words.
      await runner.query(`ANALYZE "${resource}"`);
    }
    if (resources.length > 0) await excludeReaders(runner, resources);
    await runner.commitTransaction();
    return resources;
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  } finally {
    await runner.release();
  }
}

/**
 * Waits for the readers of tables, and lets none begin until the transaction ends. A statement that is
 * planned before the end would search in the former language, in words that it might see only after it.
 */
async function excludeReaders(runner: QueryRunner, tables: readonly string[]): Promise<void> {
  const names = tables.map((table) => `"${table}"`).join(', ');
  await runner.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT}`);
  for (;;) {
    await runner.query('SAVEPOINT exclusion');
    try {
      await runner.query(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`);
      return;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      await runner.query('ROLLBACK TO SAVEPOINT exclusion');
      await sleep(RETRY_DELAY);
    }
  }
}

/** A configuration of PostgreSQL itself, or one with its schema, such as `public.ours`. */
async function requireSearchLanguage(dataSource: DataSource, language: string): Promise<void> {
  const rows = await dataSource.query<unknown[]>(
    `SELECT FROM pg_ts_config JOIN pg_namespace ON pg_namespace.oid = cfgnamespace
     WHERE CASE nspname WHEN 'pg_catalog' THEN cfgname ELSE nspname || '.' || cfgname END = $1`,
    [language],
  );
  if (rows.length > 0) return;
  throw new CommandError(
    `SEARCH_LANGUAGE must be a text search configuration of the database, such as simple or english, not ${language}`,
  );
}
