import { sqlTypeOf } from '../../resource/column-values.js';
import { identifierType } from '../../resource/identifiers.js';
import { identifierOf } from '../../resource/resource.js';
import type { Bound, Interval } from './criteria.js';
import { orderBy } from '../listing/order.js';
import { MAXIMUM_SORTED, pickedByOffset, type Place } from './picked-by-offset.js';
import { and } from '../listing/where.js';
import { keysOf } from '../listing/order.js';
import { type Picking } from './picked-objects.js';
import { type Grid, GRID_PARTS } from '../tally/grid.js';

/** The objects of an interval of the sorted column of a grid. */
export interface GridInterval {
  readonly grid: Grid;
  readonly interval: Interval;
}

/**
 * Minimum offset for which a statement may read a grid. It takes some 2 ms longer to plan. A smaller offset is found by
 * skipping or sorting, at worst in about that time more.
 */
export const MINIMUM_GRID_OFFSET = 1000;

/**
 * SQL for how many objects and cells a list reads on average to find a place by a grid, with so many objects of the
 * resource: half of the cells, and half of a part at each bound and at the place.
 */
function gridCost(objects: string): string {
  const { values, identifiers } = GRID_PARTS;
  return `${objects} / ${2 * values * identifiers} + ${values + identifiers / 2} * sqrt(${objects})`;
}

/**
 * The tables for the objects of a page in the order of the identifier, either direction, from an offset on. Refers to
 * `counted`. If the cells are not counted, or if fewer objects are read in another way, `grid` is empty, and the
 * objects are those of `pickedByOffset`.
 *
 * It counts whole cells above the cell of the lower bound, up to and including that of the upper one. It adds the
 * objects from the lower bound to the end of its cell, and subtracts those above the upper bound in its cell. Only
 * these are read. Objects that have exactly the value with which a cell begins are never among them.
 */
export function pickedInGrid(
  picking: Picking,
  place: Place,
  { grid, interval }: GridInterval,
): string[] {
  const { metadata, where, order, limit, values } = picking;
  const { offset = '0', indexSize = '0' } = place;
  const objects = '(SELECT objects FROM every)';
  const identifier = identifierOf(metadata);
  const id = `object."${identifier.databaseName}"`;
  const value = `object."${grid.column.databaseName}"`;
  const isAscending = order[0]?.direction === 'ASC';
  const type = sqlTypeOf(grid.column);
  const lower = edgeOf('lower', interval.lower, '>=', '>');
  const upper = edgeOf('upper', interval.upper, '>', '>=');
  const edges = [lower, upper].filter((edge) => edge !== undefined);

  /** How a bound divides its cell: `operator` compares the objects beyond it. */
  function edgeOf(
    name: 'lower' | 'upper',
    bound: Bound | undefined,
    ...[inclusive, exclusive]: [string, string]
  ) {
    if (!bound) return undefined;
    const operator = bound.inclusive ? inclusive : exclusive;
    return { name, operator, bound: `(${values.addTyped(bound.value, type)})` };
  }
  /** The cell of a bound; the one before it if the bound itself counts as above it and a cell begins with it. */
  const cellOf = ({ bound, operator }: { bound: string; operator: string }): string => {
    const cell = `width_bucket(${bound}, value_bounds)`;
    return operator === '>='
      ? `${cell} - coalesce((value_bounds[${cell}] = ${bound})::integer, 0)`
      : cell;
  };
  const inGrid = (column: string): string => `(SELECT ${column} FROM grid)`;
  const inPart = (column: string): string => `(SELECT ${column} FROM part)`;
  const cells = [grid.tally, grid.deltas].map(
    (table) =>
      `SELECT identifier_cell, count FROM ${table}
       WHERE value_cell > ${inGrid('lower_cell')} AND value_cell <= ${inGrid('upper_cell')}`,
  );
  // Only one of the two parts returns rows: the last cell has no end, and a comparison with null is null.
  const beyond = edges.flatMap(({ name, operator, bound }) =>
    [`${value} < ${inGrid(`${name}_end`)}`, inGrid(`${name}_end IS NULL`)].map(
      (condition) =>
        `SELECT width_bucket(${id}, ${inGrid('identifier_bounds')}), ${name === 'lower' ? 1 : -1}
         FROM object WHERE ${value} ${operator} ${bound} AND ${condition}`,
    ),
  );
  const { minimum } = identifierType(identifier.type).bounds;
  const page = `${orderBy(metadata, order)} LIMIT ${limit} OFFSET ${inPart('skipped')}`;
  const select = (condition: string): string =>
    `(SELECT ${keysOf(order)} FROM object ${and(where, condition)} ${page})`;
  const picked = isAscending
    ? select(`${id} >= ${inPart('first')}`)
    : `${select(`${id} < ${inPart('"end"')}`)} UNION ALL ${select(inPart('"end" IS NULL'))}`;
  const reach = `least(${offset} + ${limit}, total - ${offset})`;
  const skipping = '_by_skipping';
  return [
    `every AS MATERIALIZED (SELECT ${indexSize}::float8 AS objects)`,
    `grid AS MATERIALIZED (
      SELECT identifier_bounds || '{}' AS identifier_bounds, lower_cell, upper_cell,
        ${edges.map(({ name }) => `value_bounds[${name}_cell + 1] AS ${name}_end`).join(', ') || 'NULL'}
      FROM counted CROSS JOIN every CROSS JOIN ${grid.bounds} bounds CROSS JOIN LATERAL (SELECT
        ${lower ? cellOf(lower) : '-1'} AS lower_cell,
        ${upper ? cellOf(upper) : 'cardinality(value_bounds)'} AS upper_cell
      ) ends
      WHERE is_counted AND least(
        CASE WHEN total <= ${MAXIMUM_SORTED} THEN 2 * total END, ${reach} * objects / nullif(total, 0)
      ) > ${gridCost('objects')}
    )`,
    `part AS MATERIALIZED (
      SELECT CASE number WHEN 0 THEN ${minimum} ELSE identifier_bounds[number] END AS first,
        identifier_bounds[number + 1] AS "end", ${offset} - before AS skipped
      FROM grid CROSS JOIN (
        SELECT number, count, sum(count) OVER (ORDER BY number${isAscending ? '' : ' DESC'}) - count AS before FROM (
          SELECT number, sum(count) AS count
          FROM (${[...cells, ...beyond].join(' UNION ALL ')}) parts(number, count) GROUP BY number
        ) counts
      ) counts
      WHERE before <= ${offset} AND ${offset} < before + count
    )`,
    `picked_in_part AS MATERIALIZED (${picked})`,
    `counted${skipping} AS MATERIALIZED (
      SELECT CASE WHEN EXISTS (SELECT FROM grid) THEN 0 ELSE total END AS total FROM counted
    )`,
    ...pickedByOffset(picking, { ...place, indexSize: objects }, skipping),
    `picked AS MATERIALIZED (SELECT * FROM picked_in_part UNION ALL SELECT * FROM picked${skipping})`,
  ];
}
