import type { EntityMetadata } from 'typeorm';
import type { Statement } from '../../database/statement.js';
import type { StatementCache } from '../statement-cache.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { identifierType } from '../../resource/identifiers.js';
import { columnOf, identifierOf } from '../../resource/resource.js';
import { jsonArray, selection } from '../../resource/selection.js';
import { objectTable } from '../matching-objects.js';
import { stateOf } from '../versions.js';
import { type Facet, facetName } from './facet.js';
import { countOf, identifierOrder, tallyRows } from './tally.js';

/**
 * The statement for a page of a facet, ordered by identifier, and its parameter values. It takes the
 * count from the tally. It also finds the range of the offset there, and skips only within the range.
 *
 * @param resources whose version the page has; they follow from the fields
 */
export function tallyPage(
  statements: StatementCache,
  metadata: EntityMetadata,
  facet: Facet,
  { fields, limit, offset }: { fields?: readonly string[]; limit: number; offset: number },
  resources: readonly string[] = [metadata.tableName],
): [Statement, unknown[]] {
  const fromStart = offset === 0;
  const statement = statements.get(
    metadata,
    `${fromStart ? 'first page' : 'page'} ${facet.columns.join()}`,
    fields,
    () => pageText(metadata, facet.columns, fields, fromStart, resources),
  );
  const values = [facetName(facet), limit, ...(fromStart ? [] : [offset]), ...facet.values];
  return [statement, values];
}

/**
 * Each value stands in a subquery, so that the planner does not use it: the generic plan is then as
 * good as a custom plan, and PostgreSQL plans the statement once. The upper bound, which no
 * identifier is above, keeps the row estimate small. Without it, the planner expects a third of the
 * table and uses JIT compilation for a few rows.
 */
function pageText(
  metadata: EntityMetadata,
  columns: readonly string[],
  fields: readonly string[] | undefined,
  fromStart: boolean,
  resources: readonly string[],
): string {
  const { databaseName, type } = identifierOf(metadata);
  const key = `object."${databaseName}"`;
  const { least, greatest } = identifierType(type).bounds;
  const above = `(SELECT ${greatest})`;
  const lowest = fromStart ? `(SELECT ${least})` : '(SELECT lowest FROM position)';
  let from = (first: string): string => `${key} >= ${first} AND ${key} <= ${above}`;
  let order = key;
  const [leading, ...others] = columns.map((name, at) => ({
    reference: `object."${name}"`,
    value: `(SELECT $${(fromStart ? 3 : 4) + at}::${sqlTypeOf(columnOf(metadata, name))})`,
  }));
  if (leading) {
    const { reference, value } = leading;
    const rest = others.map((other) => ` AND ${other.reference} = ${other.value}`).join('');
    order = `${reference}, ${key}`;
    // Row comparison, so that only the index of the leading column qualifies. For a rare value the
    // planner could otherwise scan the whole primary key.
    from = (first) =>
      `(${order}) >= (${value}, ${first}) AND (${order}) <= (${value}, ${above})${rest}`;
  }
  // The objects that are skipped need only the key, so an index-only scan reads them.
  const keyAt = (offset: string, start: string): string =>
    `(SELECT ${key} FROM object WHERE ${from(start)} ORDER BY ${order} LIMIT 1 OFFSET ${offset})`;
  const first = fromStart ? lowest : '(SELECT id FROM first)';
  const page = (select: string): string =>
    `SELECT ${select} FROM object WHERE ${from(first)} ORDER BY ${order} LIMIT (SELECT $2::bigint)`;
  // None of them is restricted to a client: see `ListReader`.
  const fieldsOf = selection(metadata, fields, () => []);
  // The objects of a combination are not adjacent in an index. It is read for their identifiers alone,
  // so that no other object is visited.
  const objects =
    others.length === 0
      ? page(fieldsOf)
      : `SELECT ${fieldsOf} FROM (${page(`${key} AS id`)}) picked CROSS JOIN LATERAL (
           SELECT * FROM "${metadata.tableName}" object WHERE ${key} = picked.id OFFSET 0
         ) object ORDER BY picked.id`;
  // Lock order: table before tally, as TRUNCATE takes them; otherwise they deadlock.
  // Each column is a text of one collation: the result of a prepared statement must not change its type with
  // that of the identifier.
  return `WITH ${objectTable(metadata)},
    position AS MATERIALIZED (${fromStart ? startText(metadata) : positionText(metadata)})${
      fromStart
        ? ''
        : `,
    first AS MATERIALIZED (SELECT ${keyAt('(SELECT skipped FROM position)', lowest)} AS id)`
    }
    SELECT position.total AS count, ${stateOf(resources)}, page.objects,
      ${keyAt('greatest($2::bigint - 1, 0)', first)}::text COLLATE "C" AS last,
      greatest(least($2::bigint, position.total::bigint - ${fromStart ? '0' : '$3::bigint'}), 0)::text AS rows
    FROM position CROSS JOIN LATERAL (SELECT ${jsonArray(objects)} AS objects) page`;
}

function startText(metadata: EntityMetadata): string {
  return `SELECT ${countOf(identifierOrder(metadata), 'ARRAY[$1::text]')}::text AS total`;
}

/** Selects the range that contains the offset, the rows to skip within it, and the total. */
function positionText(metadata: EntityMetadata): string {
  // PostgreSQL has no minimum of UUIDs. Their texts have the same order.
  const first =
    identifierOf(metadata).type === 'uuid'
      ? '(min(lowest::text COLLATE "C") FILTER (WHERE upto > $3))::uuid'
      : 'min(lowest) FILTER (WHERE upto > $3)';
  return `SELECT
      ${first} AS lowest,
      $3 - coalesce(max(upto) FILTER (WHERE upto <= $3), 0) AS skipped,
      coalesce(max(upto), 0)::text AS total
    FROM (
      SELECT lowest, sum(count) OVER (ORDER BY lowest) AS upto
      FROM ${tallyRows(identifierOrder(metadata), 'WHERE facet = $1')}
    ) ranges`;
}
