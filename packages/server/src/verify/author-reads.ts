import type { INestApplicationContext } from '@nestjs/common';
import { DataSource, type EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { databaseFailure } from '../database/database-failure.js';
import { ReadPool } from '../database/read-pool.js';
import { ParameterValues } from '../database/statement.js';
import { whereOf } from '../list/condition/print.js';
import { readsOf } from '../list/query/query-of.js';
import { scopedTables, sqlConditions } from '../list/visibility/author-sql.js';
import {
  hasOwnTable,
  isVersioned,
  nameOf,
  resourcesOf,
  tableNamed,
  tableOf,
} from '../resource/resource.js';
import { selectedComputed, valueOf } from '../resource/selection.js';
import { deletionsTable } from '../list/deletions/deletions.js';
import type { CalledLists, FilteredList } from './called-lists.js';

/**
 * What is wrong with SQL of authors, as lines: that of computed fields, and of filters with their examples. It reads a
 * resource past its scope, PostgreSQL refuses it, or `reads` of `@QueryOf` does not say what it reads.
 */
export async function authorReads(
  { lists }: CalledLists,
  application: INestApplicationContext,
): Promise<string[]> {
  const dataSource = application.get(DataSource);
  const reads = application.get(ReadPool);
  const scoped = [...scopedTables(dataSource).values()].flat();
  const found = new Set<string>();
  const check = async (what: string, query: AuthorQuery, list?: FilteredList): Promise<void> => {
    try {
      const declared = list && versionedBy(list);
      const named = await namedBy(reads, query, scoped, declared ?? []);
      if (named.scoped.length > 0) {
        found.add(`${what} reads ${named.scoped.join(', ')} by SQL, past its scope`);
      }
      const problem = list && problemOf(list, named, scoped.length > 0);
      if (problem !== undefined) found.add(`${what} ${problem}`);
    } catch (error) {
      if (databaseFailure(error)) throw error;
      found.add(`${what} fails: ${(error as Error).message}`);
    }
  };
  for (const metadata of resourcesOf(dataSource).values()) {
    for (const [, column] of selectedComputed(metadata, undefined)) {
      await check(nameOfField(metadata, column), fieldQuery(metadata, column));
    }
  }
  // The query class of a list says what the computed fields read.
  const byClass = new Map(lists.map((list) => [list.listing.query.constructor, list]));
  for (const list of byClass.values()) {
    const { metadata } = list;
    for (const [, column] of selectedComputed(metadata, undefined)) {
      await check(nameOfField(metadata, column), fieldQuery(metadata, column), list);
    }
  }
  for (const list of lists) {
    const { metadata, parameter } = list;
    for (const query of filterQueries(list)) {
      await check(`the filter ${parameter} of ${nameOf(metadata)}`, query, list);
    }
  }
  return [...found];
}

/** The resources whose versions tell of all that SQL of a list reads, as its query class says; otherwise `undefined`. */
function versionedBy({ metadata, listing }: FilteredList): string[] | undefined {
  const reads = readsOf(listing.query.constructor);
  if (!reads || reads.others.length > 0) return undefined;
  const resources = [nameOf(metadata), ...reads.resources];
  return resources.every(hasOwnTable) ? resources : undefined;
}

/** What is wrong with `reads` of a list, if its SQL names some objects of the database. */
function problemOf(list: FilteredList, { others }: Named, hasScopes: boolean): string | undefined {
  const { metadata, listing } = list;
  const query = listing.query.constructor;
  const option = `reads of @QueryOf of ${query.name}`;
  if (!readsOf(query)) {
    if (hasScopes) return `is refused, since it is SQL, and ${option} does not say what it reads`;
    if (!isVersioned(metadata)) return undefined;
    return `gives its lists no ETag, since it is SQL, and ${option} does not say what it reads`;
  }
  if (!versionedBy(list) || others.length === 0) return undefined;
  return `reads ${others.join(', ')}, which ${option} does not name`;
}

function nameOfField(metadata: EntityMetadata, { propertyName }: ColumnMetadata): string {
  return `the field ${propertyName} of ${nameOf(metadata)}`;
}

function fieldQuery(metadata: EntityMetadata, column: ColumnMetadata): AuthorQuery {
  return { text: `SELECT ${valueOf(column, 'object')} FROM ${anyRow(metadata)}`, values: [] };
}

/** A query for each condition of a list that is SQL. */
function filterQueries({ metadata, listing }: FilteredList): AuthorQuery[] {
  return sqlConditions(metadata, listing.filters).map((condition) => {
    const values = new ParameterValues();
    const where = whereOf([condition], { metadata, values });
    return { text: `SELECT FROM ${anyRow(metadata)} ${where}`, values: values.values };
  });
}

/** A row of a resource's table, of which a statement does not read the table. */
function anyRow(metadata: EntityMetadata): string {
  return `jsonb_populate_record(NULL::${tableOf(metadata)}, '{}') object`;
}

/** A query with SQL of an author, and its parameter values. */
interface AuthorQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What a query names. */
interface Named {
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
function namedBy(
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
