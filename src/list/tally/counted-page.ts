import type { EntityMetadata } from 'typeorm';
import type { Statement } from '../../database/statement.js';
import type { StatementCache } from '../statement-cache.js';
import { identifierOf } from '../../resource/resource.js';
import { jsonArray, selection } from '../../resource/selection.js';
import { stateOf } from '../versions.js';
import { type Facet, facetName } from './facet.js';
import { countOf, tallyRows } from './tally.js';

/**
 * The statement for a page of a facet by identifier, and its values: the exact count from the
 * tally and, wherever the page lies, a bounded number of objects skipped.
 */
export function countedPage(
  statements: StatementCache,
  metadata: EntityMetadata,
  facet: Facet | 'all',
  { fields, limit, offset }: { fields?: readonly string[]; limit: number; offset: number },
): [Statement, unknown[]] {
  const column = facet === 'all' ? undefined : facet.column;
  const fromStart = offset === 0;
  const statement = statements.get(
    metadata,
    `${fromStart ? 'first page' : 'page'} ${column ?? ''}`,
    fields,
    () => pageText(metadata, column, fields, fromStart),
  );
  const values = [facetName(facet), limit, ...(fromStart ? [] : [offset])];
  return [statement, facet === 'all' ? values : [...values, facet.value]];
}

/**
 * Values stand in subqueries of their own, where the planner does not look for them: the plan is
 * then as good without them, and is made only once. So does a bound above every identifier, without
 * which the planner would expect a third of the table and compile the plan of a few rows for that.
 */
function pageText(
  metadata: EntityMetadata,
  column: string | undefined,
  fields: readonly string[] | undefined,
  fromStart: boolean,
): string {
  const key = `object."${identifierOf(metadata).databaseName}"`;
  const above = '(SELECT repeat(chr(1114111), 101))';
  const lowest = fromStart ? `(SELECT '')` : '(SELECT lowest FROM position)';
  let from = (first: string): string => `${key} >= ${first} AND ${key} < ${above}`;
  let order = key;
  if (column !== undefined) {
    const facet = `object."${column}"`;
    const value = `(SELECT $${fromStart ? 3 : 4}::${typeOf(metadata, column)})`;
    order = `${facet}, ${key}`;
    // As pairs, for which no index but the column's own will do: for a rare value the primary key
    // would be read from one end to the other.
    from = (first) => `(${order}) >= (${value}, ${first}) AND (${order}) < (${value}, ${above})`;
  }
  // What is skipped is read from the index alone, which the objects themselves could not be.
  const first = fromStart
    ? lowest
    : `(SELECT ${key} FROM object WHERE ${from(lowest)}
        ORDER BY ${order} LIMIT 1 OFFSET (SELECT skipped FROM position))`;
  // Lock order: table before tally, as TRUNCATE takes them; otherwise they deadlock.
  return `WITH object AS NOT MATERIALIZED (SELECT * FROM "${metadata.tableName}"),
    position AS MATERIALIZED (${fromStart ? startText(metadata) : positionText(metadata)})
    SELECT position.total AS count, ${stateOf(metadata.tableName)}, page.objects
    FROM position CROSS JOIN LATERAL (SELECT ${jsonArray(
      `SELECT ${selection(metadata, fields)} FROM object WHERE ${from(first)}
       ORDER BY ${order} LIMIT (SELECT $2::bigint)`,
    )} AS objects) page`;
}

/** The SQL type of a counted column. */
function typeOf(metadata: EntityMetadata, name: string): string {
  const column = metadata.columns.find(({ databaseName }) => databaseName === name);
  return column?.type === 'enum' ? `"${column.enumName}"` : String(column?.type);
}

function startText(metadata: EntityMetadata): string {
  return `SELECT ${countOf(metadata, '$1')} AS total`;
}

/** The range that an offset lies in, and how many objects to skip within it. */
function positionText(metadata: EntityMetadata): string {
  return `SELECT
      min(lowest) FILTER (WHERE upto > $3) AS lowest,
      $3 - coalesce(max(upto) FILTER (WHERE upto <= $3), 0) AS skipped,
      coalesce(max(upto), 0)::text AS total
    FROM (
      SELECT lowest, sum(count) OVER (ORDER BY lowest) AS upto
      FROM ${tallyRows(metadata, 'WHERE facet = $1')}
    ) ranges`;
}
