import type { ReadPool } from '../database/read-pool.js';
import { deletionsTable } from '../list/deletions/deletions.js';
import { tableNamed } from '../resource/resource.js';

/** A query with SQL of an author, and its parameter values. */
export interface AuthorQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What a query names. */
export interface Named {
  /** Those of the tables with a scope. */
  readonly scoped: readonly string[];
  /** What changes without the versions of resources: other tables and views, functions that may read them, the clock. */
  readonly others: readonly string[];
}

/**
 * Finds what a query names. What a function reads that PostgreSQL does not inline is not found.
 *
 * @param scoped the tables with a scope, in SQL: also read by a view, by a materialized view, or as a part of them
 * @param resources their versions cover their own tables and their deletions
 */
export function namedBy(
  reads: ReadPool,
  { text, values }: AuthorQuery,
  scoped: readonly string[],
  resources: readonly string[],
): Promise<Named> {
  return reads.readSnapshot(async (snapshot) => {
    // PostgreSQL locks every relation that a statement names when it analyses the statement, whether
    // or not the plan reads the relation.
    await snapshot.rows(`EXPLAIN ${text}`, values);
    const named = async (select: string, ...parameters: unknown[]): Promise<string[]> =>
      (await snapshot.rows(select, parameters)).flat().map(String);
    const others = await named(NAMED_OBJECTS, versionedTables(resources), wordsOf(text));
    return {
      scoped: await named(NAMED_TABLES, scoped),
      others: CLOCK.test(text) ? [...others, 'the clock'] : others,
    };
  });
}

/** The tables that the versions of resources cover, quoted. Triggers change them at every write. */
function versionedTables(resources: readonly string[]): string[] {
  return resources.flatMap((resource) => [tableNamed(resource), deletionsTable(resource)]);
}

/**
 * Selects what the earlier statements of the transaction name: relations other than those of `$1`, and
 * functions that have a name of `$2` and are not immutable. It leaves out system catalogs, and
 * partitions and children, which are read through their parents.
 */
const NAMED_OBJECTS = `
  WITH locked AS (
    SELECT relation FROM pg_locks WHERE locktype = 'relation' AND pid = pg_backend_pid()
  )
  SELECT relation::regclass::text AS name
  FROM locked JOIN pg_class ON pg_class.oid = relation
  WHERE relkind = ANY('{r,p,v,m,f}') AND relnamespace <> 'pg_catalog'::regnamespace
  AND NOT EXISTS (SELECT FROM unnest($1::text[]) own WHERE to_regclass(own) = relation)
  AND NOT EXISTS (
    SELECT FROM pg_inherits WHERE inhrelid = relation
    AND inhparent IN (SELECT relation FROM locked)
  )
  UNION
  SELECT 'the function ' || pg_proc.oid::regprocedure FROM pg_proc
  WHERE proname = ANY($2) AND prorettype::regtype::text !~ '(trigger|handler|internal)$'
  AND (
    provolatile = 'v' OR provolatile = 's'
    AND (pronamespace <> 'pg_catalog'::regnamespace OR proname ~ '^pg_|_to_xml')
  )
  ORDER BY name`;

/**
 * Selects those relations of `$1` that the earlier statements of the transaction read: by name, by a view, as
 * they were when a materialized view was filled, or as a partition or child of them.
 */
const NAMED_TABLES = `
  WITH RECURSIVE read (relation) AS (
    SELECT relation FROM pg_locks WHERE locktype = 'relation' AND pid = pg_backend_pid()
    UNION
    SELECT origin FROM read CROSS JOIN LATERAL (
      SELECT refobjid FROM pg_rewrite JOIN pg_depend ON objid = pg_rewrite.oid
      WHERE ev_class = relation AND classid = 'pg_rewrite'::regclass
      AND refclassid = 'pg_class'::regclass
      UNION ALL SELECT inhparent FROM pg_inherits WHERE inhrelid = relation
    ) AS origins (origin)
  )
  SELECT name FROM unnest($1::text[]) name
  WHERE to_regclass(name) IN (SELECT relation FROM read)
  ORDER BY name`;

/** Every word of a statement that can be a name, also in lower case, as PostgreSQL folds it. */
function wordsOf(text: string): string[] {
  const words = text.match(/[\p{L}_][\p{L}\p{N}_$]*/gu) ?? [];
  return [...new Set(words.flatMap((word) => [word, word.toLowerCase()]))];
}

/** Expressions whose value depends on the current time. */
const CLOCK =
  /\b(?:now|age)\s*\(|\b(?:transaction_timestamp|statement_timestamp|current_date|current_time|current_timestamp|localtime|localtimestamp)\b|'(?:now|today|tomorrow|yesterday)\b/i;
