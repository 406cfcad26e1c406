import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import {
  type EntityMetadata,
  FindOperator,
  type FindOperatorType,
  type ObjectLiteral,
} from 'typeorm';
import { ReadPool } from '../database/read-pool.js';
import { Snapshot } from '../database/snapshot.js';
import { deletionsTable } from './deletions/deletion.js';

/** A query that selects what meets a list's conditions, with its values. */
export interface Selecting {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Maximum number of statements whose dependencies are kept. Clients choose the combination of filters. */
const MAXIMUM_STATEMENTS = 2000;

/** Finds what statements read beside the table of their resource. PostgreSQL is asked once for each text. */
@Injectable()
export class Dependencies {
  private readonly answers = new LRUCache<string, Promise<readonly string[]>>({
    max: MAXIMUM_STATEMENTS,
  });

  constructor(private readonly reads: ReadPool) {}

  /**
   * Names what a query reads that may change while the version of a resource does not: other tables
   * and views, functions that may read them, and the clock.
   *
   * @param resource whose version changes with its own table and its deletions
   */
  of(resource: string, query: Selecting): Promise<readonly string[]> {
    const key = hash('sha256', `${resource} ${query.text}`, 'base64url');
    let answer = this.answers.get(key);
    if (!answer) {
      answer = this.reads.read((pool) => ask(pool, resource, query));
      this.answers.set(key, answer);
      answer.catch(() => this.answers.delete(key));
    }
    return answer;
  }
}

/** The tables whose changes the version of a resource tells of: triggers stamp every write. */
export function versionedTables(resource: string): string[] {
  return [`"${resource}"`, deletionsTable(resource)];
}

/**
 * Whether a condition compares columns of its own table with values and does nothing else. Any other
 * one may read what it likes, as SQL in `Raw` does.
 */
export function isPlainCondition(metadata: EntityMetadata, condition: ObjectLiteral): boolean {
  return Object.entries(condition).every(
    ([name, value]) => metadata.findColumnWithPropertyName(name) && isPlainValue(value),
  );
}

function isPlainValue(value: unknown): boolean {
  if (!(value instanceof FindOperator)) {
    return value === null || typeof value !== 'object' || value instanceof Date;
  }
  if (value.child) return COMPARISONS.has(value.type) && isPlainValue(value.child);
  if (value.type === 'and' || value.type === 'or') {
    return (value.value as unknown as readonly unknown[]).every(isPlainValue);
  }
  // Whatever it compares with is sent as a value.
  return COMPARISONS.has(value.type);
}

const COMPARISONS: ReadonlySet<FindOperatorType> = new Set([
  'not',
  'lessThan',
  'lessThanOrEqual',
  'moreThan',
  'moreThanOrEqual',
  'equal',
  'between',
  'in',
  'any',
  'isNull',
  'ilike',
  'like',
  'arrayContains',
  'arrayContainedBy',
  'arrayOverlap',
  'jsonContains',
]);

async function ask(
  pool: Pool,
  resource: string,
  { text, values }: Selecting,
): Promise<readonly string[]> {
  const snapshot = await Snapshot.open(pool, new AbortController().signal);
  try {
    // To analyse a statement PostgreSQL locks all that it names, whether or not its plan reads them.
    await snapshot.rows(`EXPLAIN ${text}`, values);
    const named = await snapshot.rows(NAMED, [versionedTables(resource), wordsOf(text)]);
    return [...named.flat().map(String), ...(CLOCK.test(text) ? ['the clock'] : [])];
  } finally {
    await snapshot.close();
  }
}

/**
 * What the statements before it in the transaction have named: relations other than those of `$1`,
 * and functions with a name among `$2` that PostgreSQL is not told to be immutable. System catalogs
 * hold no objects; a partition or a child is read through its parent.
 */
const NAMED = `
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

/** Every word of a statement, as PostgreSQL may take it for a name. */
function wordsOf(text: string): string[] {
  const words = text.match(/[\p{L}_][\p{L}\p{N}_$]*/gu) ?? [];
  return [...new Set(words.flatMap((word) => [word, word.toLowerCase()]))];
}

/** What makes the same statement answer otherwise at another time. */
const CLOCK =
  /\b(?:now|age)\s*\(|\b(?:transaction_timestamp|statement_timestamp|current_date|current_time|current_timestamp|localtime|localtimestamp)\b|'(?:now|today|tomorrow|yesterday)\b/i;
