import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ReadPool } from '../../database/read-pool.js';
import { capabilitiesOf } from '../../resource/capabilities.js';
import { tableNamed } from '../../resource/resource.js';
import { changesTable, hasChangesTable } from '../../resource/changes-table.js';
import { deletionsTable } from '../deletions/deletion.js';

/** A query with the conditions of a list, and its parameter values. */
export interface SelectQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Maximum number of cached statements. Clients choose the combination of filters. */
const MAXIMUM_STATEMENTS = 2000;

/** Milliseconds for which a result is remembered: a function may be replaced by one that reads something else. */
const MAXIMUM_AGE = 10_000;

/** Finds what queries read besides the table of their resource. */
@Injectable()
export class Dependencies {
  private readonly cached = new LRUCache<string, Promise<readonly string[]>>({
    max: MAXIMUM_STATEMENTS,
    ttl: MAXIMUM_AGE,
  });

  constructor(private readonly reads: ReadPool) {}

  /**
   * Names what a query reads that can change without changing the versions of resources: other tables
   * and views, functions that may read them, and the clock. PostgreSQL analyses each text once in ten seconds.
   *
   * @param resources their versions cover their own tables and their deletions
   */
  async find(resources: readonly string[], query: SelectQuery): Promise<readonly string[]> {
    const { text } = query;
    const key = hash('sha256', `${resources.join()} ${text}`, 'base64url');
    let found = this.cached.get(key);
    if (!found) {
      found = this.named(query, NAMED_OBJECTS, [versionedTables(resources), wordsOf(text)]);
      this.cached.set(key, found);
      found.catch(() => this.cached.delete(key));
    }
    return CLOCK.test(text) ? [...(await found), 'the clock'] : found;
  }

  /**
   * Names those of some tables that a query reads, also by a view, by a materialized view, or a part of them. Nothing is
   * remembered, since a view may be replaced by one that reads another table.
   *
   * @param tables in SQL
   */
  findTables(tables: readonly string[], query: SelectQuery): Promise<readonly string[]> {
    return this.named(query, NAMED_TABLES, [tables]);
  }

  /** @param select selects names of what the statements before it in its transaction name */
  private named(
    { text, values }: SelectQuery,
    select: string,
    parameters: readonly unknown[],
  ): Promise<readonly string[]> {
    return this.reads.readSnapshot(async (snapshot) => {
      // PostgreSQL locks every relation that a statement names when it analyses the statement, whether
      // or not the plan reads the relation.
      await snapshot.rows(`EXPLAIN ${text}`, values);
      return (await snapshot.rows(select, parameters)).flat().map(String);
    });
  }
}

/** The tables that the versions of resources cover, quoted. Triggers change them at every write. */
export function versionedTables(resources: readonly string[]): string[] {
  return resources
    .filter((resource) => capabilitiesOf(resource).version)
    .flatMap((resource) => [
      tableNamed(resource),
      ...(hasChangesTable(resource) ? [changesTable(resource)] : []),
      deletionsTable(resource),
    ]);
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
