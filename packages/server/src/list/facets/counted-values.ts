import type { EntityMetadata } from 'typeorm';
import { ParameterValues } from '../../database/statement.js';
import { columnOf, isBroad } from '../../resource/resource.js';
import type { Condition } from '../condition/condition.js';
import { and, whereOf } from '../condition/print.js';
import type { VisibleListing } from '../visibility/visible-listing.js';
import { keyOf } from '../reading/key-of.js';
import type { Counted } from '../statement/tallied-counts.js';
import { criteriaOf } from '../statement/criteria.js';
import { conditionsBeside } from './conditions-beside.js';
import { type Field, TalliedValues } from './tallied-values.js';

/** Fields whose values are counted in one scan. */
interface Scan {
  readonly matching: readonly Condition[];
  /** A condition in SQL under which this scan counts. Absent: always. */
  readonly condition?: string;
  readonly fields: Field[];
}

/** A query of some rows. */
export interface Rows extends Pick<Counted, 'tables'> {
  readonly query: string;
}

/**
 * A query of the counts of columns' values: `at`, the place of the column among these, `value`, a text, and `count`. It
 * takes the counts of a column from the first that applies:
 *
 * 1. the facets of the column, without other conditions;
 * 2. the facets of a combination that is counted, with values of the other columns;
 * 3. the tally of words, with a counted word, or of items, with one item or for the items themselves;
 * 4. a scan of the matching objects: one with `GROUPING SETS` for all columns with the same conditions, and one for each
 *    array.
 *
 * @param columns counted columns by themselves, and arrays
 */
export function countedValues(
  list: VisibleListing,
  columns: readonly string[],
  values: ParameterValues,
): Rows {
  const { metadata } = list.repository;
  const tallied = new TalliedValues(metadata, values);
  const counts: string[] = [];
  const unconditional: Field[] = [];
  const scans = new Map<string, Scan>();
  for (const [at, name] of columns.entries()) {
    const others = conditionsBeside(list, name);
    if (others.length === 0) {
      unconditional.push({ name, at });
      continue;
    }
    const criteria = criteriaOf(others, metadata);
    const found = criteria && tallied.of(name, criteria);
    if (found) counts.push(`SELECT ${at} AS at, value, count FROM (${found.query}) tallied`);
    if (found && found.unless === undefined) continue;
    if (columnOf(metadata, name).isArray) {
      counts.push(scannedItems(metadata, others, { name, at }, values));
      continue;
    }
    const alone = new ParameterValues();
    const key = keyOf(whereOf(others, { metadata, values: alone }), alone.values, found?.unless);
    const scan = scans.get(key) ?? { matching: others, condition: found?.unless, fields: [] };
    scans.set(key, scan);
    scan.fields.push({ name, at });
  }
  if (unconditional.length > 0) counts.push(tallied.every(unconditional));
  const scanning = [...scans.values()].map((scan, at) =>
    scanned(metadata, scan, `scanned_${at}`, values),
  );
  return {
    tables: [
      ...[...tallied.tables].map(([name, query]) => `${name} AS MATERIALIZED (${query})`),
      ...scanning.flatMap(({ tables }) => tables),
    ],
    query: [...counts, ...scanning.map(({ query }) => query)].join('\nUNION ALL '),
  };
}

/** A query of the counts of an array's items, from the matching objects themselves. */
function scannedItems(
  metadata: EntityMetadata,
  matching: readonly Condition[],
  { name, at }: Field,
  values: ParameterValues,
): string {
  const { databaseName: column } = columnOf(metadata, name);
  return `SELECT ${at} AS at, value, count(*) AS count
    FROM object CROSS JOIN LATERAL (
      SELECT DISTINCT item::text AS value FROM unnest(object."${column}") item WHERE item IS NOT NULL
    ) items ${whereOf(matching, { metadata, values })} GROUP BY value`;
}

/**
 * A query of the counts of fields, from one scan of the matching objects. Columns of few values are grouped with another
 * one, so that an object is looked up in fewer groups. Their groups are then added up, which are few.
 *
 * @param name of the table of these groups
 */
function scanned(
  metadata: EntityMetadata,
  { matching, condition, fields }: Scan,
  name: string,
  values: ParameterValues,
): Rows {
  const columns = fields.map((field) => {
    const { databaseName } = columnOf(metadata, field.name);
    return { at: field.at, column: `"${databaseName}"`, isFew: isBroad(metadata, field.name) };
  });
  const few = columns.filter(({ isFew }) => isFew);
  const [first = [], ...others] = columns.filter(({ isFew }) => !isFew).map((each) => [each]);
  const sets = [[...first, ...few], ...others].map(
    (set) => `(${set.map(({ column }) => `object.${column}`).join(', ')})`,
  );
  const isGrouped = columns.map(({ at, column }) => `GROUPING(object.${column}) = 0 AS "#${at}"`);
  const where = and(
    whereOf(matching, { metadata, values }),
    ...(condition === undefined ? [] : [condition]),
  );
  const counts = columns.map(
    ({
      at,
      column,
    }) => `SELECT ${at} AS at, ${column}::text AS value, sum("#count")::bigint AS count
      FROM ${name} WHERE "#${at}" AND ${column} IS NOT NULL GROUP BY ${column}`,
  );
  return {
    tables: [
      `${name} AS MATERIALIZED (
        SELECT ${columns.map(({ column }) => `object.${column}`).join(', ')}, ${isGrouped.join(', ')}, count(*) AS "#count"
        FROM object ${where} GROUP BY GROUPING SETS (${sets.join(', ')})
      )`,
    ],
    query: counts.join('\nUNION ALL '),
  };
}
