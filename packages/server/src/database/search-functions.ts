import type { EntityManager, QueryRunner } from 'typeorm';
import { CommandError } from '../command-error.js';

/**
 * Requires a configuration of PostgreSQL itself, or one with its schema, such as `public.ours`.
 *
 * @throws CommandError if the database has no such language
 */
export async function requireSearchLanguage(
  manager: EntityManager,
  language: string,
): Promise<void> {
  const rows = await manager.query<unknown[]>(
    `SELECT FROM pg_ts_config JOIN pg_namespace ON pg_namespace.oid = cfgnamespace
     WHERE CASE nspname WHEN 'pg_catalog' THEN cfgname ELSE nspname || '.' || cfgname END = $1`,
    [language],
  );
  if (rows.length > 0) return;
  throw new CommandError(
    `SEARCH_LANGUAGE must be a text search configuration of the database, such as simple or english, not ${language}`,
  );
}

/**
 * Creates the functions of searches that are of each database: its language, a collation that it has, and the
 * characters of words by the Unicode version of Node.js. A change of one of them takes `rebuild_words` for each
 * resource that is searched.
 */
export async function createSearchFunctions(runner: QueryRunner, language: string): Promise<void> {
  const functions = {
    // The configuration by whose dictionaries words are stemmed. `Settings` admits no quotes.
    'search_language()': `'${language}'`,
    'search_lower(text)': `lower($1 ${await lowerCollation(runner)})`,
    // A regular expression of what is between words.
    'search_separators()': `'[^a-z0-9${wordCharacters()}]+'`,
  };
  for (const [name, expression] of Object.entries(functions)) {
    await runner.query(
      `CREATE FUNCTION ${name} RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ${expression} $$`,
    );
  }
}

/**
 * A collation that knows the case of every letter, as `COLLATE …`; that of the column, `C`, knows only ASCII. If a
 * database has none, other letters keep their case.
 */
async function lowerCollation(runner: QueryRunner): Promise<string> {
  const [{ collation }] = await runner.manager.query<[{ collation: string }]>(
    `SELECT CASE WHEN lower('ÉЖ') = 'éж' THEN 'COLLATE pg_catalog."default"' ELSE coalesce((
       SELECT format('COLLATE %I.%I', nspname, collname)
       FROM pg_collation JOIN pg_namespace ON pg_namespace.oid = collnamespace
       WHERE collname = ANY('{pg_c_utf8,und-x-icu,C.utf8,en_US.utf8}')
       ORDER BY array_position('{pg_c_utf8,und-x-icu,C.utf8,en_US.utf8}', collname::text) LIMIT 1
     ), 'COLLATE "C"') END AS collation`,
  );
  return collation;
}

/** The characters of words beyond ASCII, as ranges of a bracket expression: letters, digits and marks. */
function wordCharacters(): string {
  const escape = (code: number): string => `\\U${code.toString(16).padStart(8, '0')}`;
  const ranges: string[] = [];
  let first: number | undefined;
  for (let code = 0x80; code <= 0x110000; code += 1) {
    const isIncluded = code < 0x110000 && /[\p{L}\p{N}\p{M}]/u.test(String.fromCodePoint(code));
    if (isIncluded) {
      first ??= code;
    } else if (first !== undefined) {
      ranges.push(first === code - 1 ? escape(first) : `${escape(first)}-${escape(code - 1)}`);
      first = undefined;
    }
  }
  return ranges.join('');
}
