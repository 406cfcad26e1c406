import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { requireSearchLanguage } from '../database/engine.js';

/** Milliseconds in which a statement that was planned before a commit has begun. */
const PLANNED_BEFORE = 1000;

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
  await requireSearchLanguage(dataSource.manager, language);
  const [{ stored }] = await dataSource.query<[{ stored: string }]>(
    'SELECT search_language() AS stored',
  );
  if (stored === language) return undefined;
  return `searches are in the language ${stored}, SEARCH_LANGUAGE is ${language}; run catalogue search rebuild`;
}

/**
 * Changes the language of searches, and computes the words again of resources with a trigger of `install_words`, in one
 * transaction. Readers go on, writers of these resources wait.
 *
 * @returns the resources
 * @throws CommandError if the database has no such language
 */
export async function rebuildSearch(dataSource: DataSource, language: string): Promise<string[]> {
  await requireSearchLanguage(dataSource.manager, language);
  const resources = await dataSource.transaction(async (manager) => {
    // Two commands cannot replace a function at once: PostgreSQL refuses one of them.
    await manager.query(`SELECT pg_advisory_xact_lock(hashtext('search language'))`);
    const rows = await manager.query<{ resource: string }[]>(
      `SELECT resource FROM searches WHERE to_regclass(quote_ident(resource)) IS NOT NULL
       ORDER BY resource`,
    );
    // `Settings` admits no quotes.
    await manager.query(
      `CREATE OR REPLACE FUNCTION search_language() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
       AS $$ SELECT '${language}' $$`,
    );
    for (const { resource } of rows) {
      await manager.query('SELECT rebuild_words($1)', [resource]);
      // For the choice of the counted words.
      await manager.query(`ANALYZE "${resource}"`);
    }
    return rows.map(({ resource }) => resource);
  });
  // A statement that was planned before the end has searched in the former language, and may have seen the
  // new words. A further version keeps its result out of caches.
  await sleep(PLANNED_BEFORE);
  for (const resource of resources) {
    await dataSource.query('INSERT INTO resource_versions (resource) VALUES ($1)', [resource]);
  }
  return resources;
}
