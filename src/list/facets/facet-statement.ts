import type { EntityMetadata } from 'typeorm';
import { ParameterValues } from '../../database/statement.js';
import { columnOf } from '../../resource/resource.js';
import { jsonArray } from '../../resource/selection.js';
import type { Listing } from '../listing/listing.js';
import { keyOf } from '../reading/key-of.js';
import { criteriaOf } from '../statement/criteria.js';
import { objectTable } from '../statement/matching-objects.js';
import { columnsIn, type Condition } from '../condition/condition.js';
import { and, whereOf } from '../condition/print.js';
import { stateOf } from '../statement/state.js';
import { type Field, TalliedValues } from './tallied-values.js';

/** Fields whose values are counted in one scan. */
interface Scan {
  readonly matching: readonly Condition[];
  /** A condition under which the objects are counted. Absent: they are. */
  readonly condition?: string;
  readonly fields: Field[];
}

/**
 * The text of the statement for facet counts, and its parameter values. It takes the counts of a field from the first
 * that applies:
 *
 * 1. the facets of the column, without other conditions;
 * 2. the facets of a combination that is counted, with values of the other columns;
 * 3. the tally of words, with a counted word;
 * 4. one scan of the matching objects with `GROUPING SETS`, for all fields with the same conditions.
 *
 * @param fields single counted columns
 * @param limit most values of each field
 */
export function facetStatement(
  { repository: { metadata }, filters, scope, resources }: Listing,
  fields: readonly string[],
  limit: number,
): [text: string, values: unknown[]] {
  const values = new ParameterValues([limit]);
  const tallied = new TalliedValues(metadata, values);
  const counts: string[] = [];
  const unconditional: Field[] = [];
  const scans = new Map<string, Scan>();
  for (const [at, name] of fields.entries()) {
    // What a client may not see is not counted, also for the columns of the scope itself.
    const others = [...scope, ...otherConditions(filters, name)];
    if (others.length === 0) {
      unconditional.push({ name, at });
      continue;
    }
    const criteria = criteriaOf(others, metadata);
    const found = criteria && tallied.of(name, criteria);
    if (found) counts.push(`SELECT ${at} AS at, value, count FROM (${found.query}) tallied`);
    if (found && found.unless === undefined) continue;
    const alone = new ParameterValues();
    const key = keyOf(whereOf(others, { metadata, values: alone }), alone.values, found?.unless);
    const scan = scans.get(key) ?? { matching: others, condition: found?.unless, fields: [] };
    scans.set(key, scan);
    scan.fields.push({ name, at });
  }
  if (unconditional.length > 0) counts.push(tallied.every(unconditional));
  for (const scan of scans.values()) counts.push(scanned(metadata, scan, values));
  const names = fields.map((name, at) => `WHEN ${at} THEN '${name}'`).join(' ');
  const byCount = 'count DESC, value COLLATE "C"';
  const objects = jsonArray(
    `SELECT CASE at ${names} END AS field, value, count::text AS count
     FROM shown ORDER BY at, shown.${byCount}`,
  );
  const tables = [...tallied.tables].map(([name, query]) => `${name} AS MATERIALIZED (${query})`);
  // No filter takes an empty text.
  const text = `WITH ${[objectTable(metadata), ...tables].join(',\n')},
    counts AS MATERIALIZED (
      SELECT * FROM (${counts.join('\nUNION ALL ')}) every WHERE count > 0 AND value <> ''
    ),
    shown AS MATERIALIZED (
      SELECT field.at, value, count FROM generate_series(0, ${fields.length - 1}) AS field(at)
      CROSS JOIN LATERAL (
        SELECT value, count FROM counts WHERE counts.at = field.at ORDER BY ${byCount} LIMIT $1::bigint
      ) first
    )
    SELECT ${objects} AS objects, (SELECT count(*)::text FROM counts) AS count,
      (SELECT count(*)::text FROM shown) AS rows, NULL AS last, ${stateOf(resources, metadata)}`;
  return [text, values.values];
}

/** A query of the counts of fields, from the objects themselves. */
function scanned(
  metadata: EntityMetadata,
  { matching, condition, fields }: Scan,
  values: ParameterValues,
): string {
  const columns = fields.map(({ name, at }) => {
    const column = `object."${columnOf(metadata, name).databaseName}"`;
    return { at, column, isGrouped: `GROUPING(${column}) = 0` };
  });
  const either = (of: (each: (typeof columns)[number]) => string): string =>
    `CASE ${columns.map((each) => `WHEN ${each.isGrouped} THEN ${of(each)}`).join(' ')} END`;
  const where = and(
    whereOf(matching, { metadata, values }),
    ...(condition === undefined ? [] : [condition]),
  );
  return `SELECT * FROM (
      SELECT ${either(({ at }) => String(at))} AS at,
        ${either(({ column }) => `${column}::text`)} AS value, count(*) AS count
      FROM object ${where} GROUP BY GROUPING SETS (${columns.map(({ column }) => `(${column})`).join(', ')})
    ) scanned WHERE value IS NOT NULL`;
}

/** The conditions of a list without what they say of one column. */
function otherConditions(conditions: readonly Condition[], column: string): Condition[] {
  return conditions.flatMap((condition): Condition[] => {
    if (condition.kind !== 'any') return columnsIn([condition]).includes(column) ? [] : [condition];
    const others = condition.of.map((each) => otherConditions(each, column));
    // An alternative that says nothing else admits every object.
    return others.some(({ length }) => length === 0) ? [] : [{ kind: 'any', of: others }];
  });
}
