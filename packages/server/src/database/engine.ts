import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EntityManager, QueryRunner } from 'typeorm';
import { VERSION } from '../package.js';
import { CommandError } from '../command-error.js';
import { hasTable, RECORDING_RESOURCES } from './installed-resource.js';

/*
 * The schema of the service itself: its tables and functions, without those of resources.
 *
 * `engine` has a file for each step of its tables, in order. A database runs each once, and the table `engine` says which. A
 * step that has landed is never edited. `functions` has the functions in their present form. They are replaced where the
 * database has those of an earlier version, so that an instance of an earlier version leaves them alone.
 */

const [STEPS, FUNCTIONS] = ['engine', 'functions'].map((name) => join(import.meta.dirname, name));

/** What stands for the functions in the table `engine`. */
const ALL_FUNCTIONS = 'functions';

interface SqlFile {
  /** Without `.sql`. */
  readonly name: string;
  readonly text: string;
}

/** What is installed, by name: a step, or the functions. */
interface Installed {
  readonly name: string;
  /** The version of the service that has installed it. */
  readonly version: string;
  /** Of its text. */
  readonly digest: string;
}

/** The steps that a database has not run, and `functions` if it has those of an earlier version, by name. */
export async function pendingSteps(manager: EntityManager): Promise<string[]> {
  const installed = (await hasTable(manager, 'engine'))
    ? await manager.query<Installed[]>('SELECT name, version, digest FROM engine')
    : [];
  const steps = (await sqlFiles(STEPS)).filter(({ name }) => !installed.some(isNamed(name)));
  const functions = installed.find(isNamed(ALL_FUNCTIONS));
  const isCurrent = functions && !isReplaced(functions, digestOf(await sqlFiles(FUNCTIONS)));
  return [...steps.map(({ name }) => name), ...(isCurrent ? [] : [ALL_FUNCTIONS])];
}

/**
 * Runs what is pending, in the transaction of the runner.
 *
 * @param language the language of searches in a new database
 * @returns the names of what has run
 */
export async function updateEngine(runner: QueryRunner, language: string): Promise<string[]> {
  const { manager } = runner;
  const pending = await pendingSteps(manager);
  if (pending.length === 0) return [];
  await runner.query(
    `CREATE TABLE IF NOT EXISTS engine (
       name text COLLATE "C" PRIMARY KEY, version text NOT NULL, digest text NOT NULL,
       "installedAt" timestamptz(3) NOT NULL DEFAULT now()
     )`,
  );
  // Former versions had its tables in their first migration.
  const isTakenOver = await hasTable(manager, 'tallies');
  for (const step of await sqlFiles(STEPS)) {
    if (!pending.includes(step.name)) continue;
    if (!(isTakenOver && step.name === FIRST)) await runner.query(step.text);
    await note(runner, step.name, digestOf([step]));
  }
  if (!isTakenOver) await createSearchFunctions(runner, language);
  if (pending.includes(ALL_FUNCTIONS)) await replaceFunctions(runner);
  return pending;
}

/** Creates the tables. */
const FIRST = '1-tables';

async function replaceFunctions(runner: QueryRunner): Promise<void> {
  const files = await sqlFiles(FUNCTIONS);
  // A function may call one that is created later.
  await runner.query('SET LOCAL check_function_bodies = off');
  for (const { text } of files) await runner.query(text);
  await note(runner, ALL_FUNCTIONS, digestOf(files));
  // They write those of the triggers of each resource.
  await runner.query(
    `SELECT install_words(resource, columns) FROM searches WHERE to_regclass(quote_ident(resource)) IS NOT NULL`,
  );
  await runner.query(
    `SELECT install_deletions(resource, recorded[1], recorded[2:]) FROM (${RECORDING_RESOURCES}) recording
     CROSS JOIN LATERAL (
       SELECT array_agg(attname::text ORDER BY attnum) AS recorded FROM pg_attribute
       WHERE attrelid = to_regclass(quote_ident(resource || '_deletions'))
       AND attnum > 0 AND NOT attisdropped AND attname <> 'deletedAt'
     ) columns WHERE to_regclass(quote_ident(resource)) IS NOT NULL AND recorded IS NOT NULL`,
  );
  // Former versions described a tally in any order, which is that of the text of its triggers.
  await runner.query(
    `UPDATE tallies SET orders = described FROM (
       SELECT resource AS of_resource, tally_description(resource, counted, sorted, searched, intervals) AS described
       FROM tallies
     ) described_tallies
     WHERE resource = of_resource AND orders <> described AND orders @> described AND orders <@ described`,
  );
  await runner.query(
    'SELECT refresh_tally(resource) FROM tallies WHERE to_regclass(quote_ident(resource)) IS NOT NULL',
  );
}

async function note(runner: QueryRunner, name: string, digest: string): Promise<void> {
  await runner.query(
    `INSERT INTO engine (name, version, digest) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET version = $2, digest = $3, "installedAt" = now()`,
    [name, VERSION, digest],
  );
}

/** Whether functions are replaced by those of this version, which have the digest. */
function isReplaced({ version, digest }: Installed, current: string): boolean {
  // Without what follows -, as in 2.0.0-rc.1: the digest tells that from 2.0.0.
  const [theirs, ours] = [version, VERSION].map((text) => text.split(/[.-]/, 3).map(Number));
  const at = ours?.findIndex((number, place) => number !== theirs?.[place]) ?? -1;
  return at < 0 ? digest !== current : (ours?.[at] ?? 0) > (theirs?.[at] ?? 0);
}

function isNamed(name: string): (installed: Installed) => boolean {
  return (installed) => installed.name === name;
}

/** The files of a folder. The name of one begins with its number, or its order does not matter. */
async function sqlFiles(folder = ''): Promise<SqlFile[]> {
  const names = (await readdir(folder)).sort((one, other) =>
    one.localeCompare(other, 'en', { numeric: true }),
  );
  return Promise.all(
    names.map(async (file) => ({
      name: file.slice(0, -'.sql'.length),
      text: await readFile(join(folder, file), 'utf8'),
    })),
  );
}

function digestOf(files: readonly SqlFile[]): string {
  const hash = createHash('sha256');
  for (const { name, text } of files) hash.update(`${name}\n${text}\n`);
  return hash.digest('hex').slice(0, 12);
}

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
async function createSearchFunctions(runner: QueryRunner, language: string): Promise<void> {
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
