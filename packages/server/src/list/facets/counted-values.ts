import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { ParameterValues } from '../../database/statement.js';
import { columnOf, isBroad } from '../../resource/resource.js';
import { lastValue } from '../../tally/facet.js';
import { columnsIn, type Condition } from '../condition/condition.js';
import { presence } from '../condition/filters.js';
import { and, sqlOf, whereOf } from '../condition/print.js';
import { listKeyOf } from '../reading/prepared-list.js';
import { criteriaOf } from '../statement/criteria.js';
import { cellsOf, type Counted, talliedBy } from '../statement/tallied-counts.js';
import type { VisibleListing } from '../visibility/visible-listing.js';
import { type CellFacets, type Field, TalliedValues, valueOf } from './tallied-values.js';

/** Fields whose values are counted in one scan. */
interface Scan {
  readonly matching: readonly Condition[];
  /** A condition in SQL under which this scan counts. Absent: always. */
  readonly condition?: string;
  /** If given, the tally counts the whole cells of an interval, and the scan only the other objects. */
  readonly cells?: Pick<CellFacets, 'order' | 'interval'>;
  readonly fields: (Field & Partial<CellFacets>)[];
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
 * 4. the cells of an interval, and a scan of the objects at its ends;
 * 5. a scan of the matching objects, one for all columns with the same conditions.
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
    const cells = found ? undefined : criteria && tallied.inCells(name, criteria);
    const alone = new ParameterValues();
    const where = whereOf(others, { metadata, values: alone });
    const key = listKeyOf(where, alone.values, found?.unless, cells !== undefined);
    const scan = scans.get(key) ?? {
      matching: others,
      condition: found?.unless,
      ...(cells && { cells }),
      fields: [],
    };
    scans.set(key, scan);
    scan.fields.push({ name, at, ...cells });
  }
  if (unconditional.length > 0) counts.push(tallied.every(unconditional));
  const scanning = [...scans.values()].map((scan, at) => scanned(metadata, scan, at, values));
  return {
    tables: [
      ...[...tallied.tables].map(([name, query]) => `${name} AS MATERIALIZED (${query})`),
      ...scanning.flatMap(({ tables }) => tables),
    ],
    query: [...counts, ...scanning.map(({ query }) => query)].join('\nUNION ALL '),
  };
}

/**
 * A query of the counts of fields, from one scan of the matching objects. PostgreSQL keeps the objects only if several parts
 * of the query read them.
 *
 * @param at the place of the scan among those of the statement
 */
function scanned(metadata: EntityMetadata, scan: Scan, at: number, values: ParameterValues): Rows {
  const fields = scan.fields.map((field) => ({ ...field, column: columnOf(metadata, field.name) }));
  const where = and(
    whereOf(scan.matching, { metadata, values }),
    ...(scan.condition === undefined ? [] : [scan.condition]),
  );
  const selected = fields.map(({ column }) => `object."${column.databaseName}"`).join(', ');
  const cells = scan.cells && cellsOf(scan.cells.order, scan.cells.interval, values, `_${at}`);
  const objects = cells?.objects(selected, where) ?? `SELECT ${selected} FROM object ${where}`;
  const arrays = fields.filter(({ column }) => column.isArray);
  const single = fields.filter(({ column }) => !column.isArray);
  const grouped = single.length > 0 ? groupedValues(metadata, single, `scanned_${at}`) : undefined;
  const queries = [
    ...(grouped ? [grouped.query] : []),
    ...arrays.map(
      (field) => `SELECT ${field.at} AS at, value, count(*) AS count
        FROM scanned_${at} object CROSS JOIN LATERAL ${valueOf(field.column)} GROUP BY value`,
    ),
  ];
  const tables = [
    ...(cells?.tables ?? []),
    `scanned_${at} AS (${objects})`,
    ...(grouped?.tables ?? []),
  ];
  if (!cells) return { tables, query: queries.join('\nUNION ALL ') };
  const names = fields.flatMap(({ at: place, bounds = [] }) =>
    bounds.map((each) => {
      const [first, end] = each.map((bound) => values.addTyped(bound, 'text'));
      return `(${place}, ${first}, ${end})`;
    }),
  );
  const whole = `SELECT at, ${lastValue('prefix')} AS value, sum(count)::bigint AS count
    FROM (VALUES ${names.join(', ')}) AS name(at, prefix, upto)
    CROSS JOIN ${cells.rows('facet >= prefix AND facet < upto')} GROUP BY at, prefix, facet`;
  return {
    tables,
    query: `SELECT at, value, sum(count)::bigint AS count
      FROM (${[whole, ...queries].join('\nUNION ALL ')}) every GROUP BY at, value`,
  };
}

/** A field of a scan, with its column. */
interface Scanned extends Field {
  readonly column: ColumnMetadata;
}

/**
 * A query of the counts of single values. Columns of few values are grouped with another one, so that an object is looked up
 * in fewer groups. Their groups are then added up, which are few.
 *
 * @param scan the name of the table of the objects
 */
function groupedValues(metadata: EntityMetadata, fields: readonly Scanned[], scan: string): Rows {
  const columns = fields.map(({ at, name, column }) => ({
    at,
    column: `"${column.databaseName}"`,
    isFew: isBroad(metadata, name),
  }));
  const few = columns.filter(({ isFew }) => isFew);
  const [first = [], ...others] = columns.filter(({ isFew }) => !isFew).map((each) => [each]);
  const sets = [[...first, ...few], ...others].map(
    (set) => `(${set.map(({ column }) => column).join(', ')})`,
  );
  const isGrouped = columns.map(({ at, column }) => `GROUPING(${column}) = 0 AS "#${at}"`);
  const counts = columns.map(
    ({
      at,
      column,
    }) => `SELECT ${at} AS at, ${column}::text AS value, sum("#count")::bigint AS count
      FROM ${scan}_groups WHERE "#${at}" AND ${column} IS NOT NULL GROUP BY ${column}`,
  );
  return {
    tables: [
      `${scan}_groups AS MATERIALIZED (
        SELECT ${columns.map(({ column }) => column).join(', ')}, ${isGrouped.join(', ')}, count(*) AS "#count"
        FROM ${scan} GROUP BY GROUPING SETS (${sets.join(', ')})
      )`,
    ],
    query: counts.join('\nUNION ALL '),
  };
}

/**
 * A query of the presence of a column: `value`, `true` for a value or an item of an array, and `false`, with `count`. The
 * filters on the column do not count.
 */
export function presenceOf(list: VisibleListing, name: string, values: ParameterValues): string {
  const { metadata } = list.repository;
  const column = columnOf(metadata, name);
  const others = conditionsBeside(list, name);
  const [every, none] = [others, [...others, presence(column, false)]].map(
    (conditions) => talliedBy(metadata, conditions).tallied,
  );
  if (every?.isSure && none?.isSure) {
    // What the tally knows of both is the sum of facets: it needs neither tables nor the conditions.
    const [all, without] = [every, none].map((count) => count.sql({ where: '', values }).total);
    return `SELECT value, count FROM (SELECT ${all} AS every, ${without} AS none OFFSET 0) counts
      CROSS JOIN LATERAL (VALUES ('true', every - none), ('false', none)) presence(value, count)`;
  }
  const context = { metadata, values };
  return `SELECT (${sqlOf(presence(column, true), context)})::text AS value, count(*) AS count
    FROM object ${whereOf(others, context)} GROUP BY 1`;
}

/**
 * The conditions under which a column of a list is counted: those of the list without what its filters say of the
 * column. What a client may not see is not counted, also for the columns of the scope itself.
 */
export function conditionsBeside(
  { scope, filters }: Pick<VisibleListing, 'scope' | 'filters'>,
  column: string,
): Condition[] {
  return [...scope, ...otherConditions(filters, column)];
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
