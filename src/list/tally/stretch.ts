import type { DataSource, EntityManager } from 'typeorm';
import type { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { type TallyOrder, tallyRows } from './tally.js';

/**
 * SQL for the minimum target number of objects of a range of `facet`. Combinations of columns have many
 * facets, and deep pages of them are rare. The range of a narrow facet spans so many other objects in the
 * index of the order that it has to be short.
 */
function minimumRangeSize({ narrow }: TallyOrder): string {
  return `CASE WHEN ${isNarrow(narrow)} THEN 500 WHEN strpos(${COLUMNS}, '+') > 0 THEN 20000 ELSE 2000 END`;
}

/**
 * SQL for the target number of objects of a range. Finding an offset adds up the ranges and then skips
 * within one. With this size both grow with the square root of the objects. A small facet is one
 * range.
 */
function rangeSize(order: TallyOrder): string {
  const factor = `CASE WHEN ${isNarrow(order.narrow)} THEN 2 ELSE 4 END`;
  return `greatest(${minimumRangeSize(order)}, ${factor} * sqrt(abs(sum(count) OVER ())))::integer`;
}

/** SQL for the columns of `facet`. */
const COLUMNS = `split_part(facet, '=', 1)`;

function isNarrow(narrow: readonly string[]): string {
  return `${COLUMNS} = ANY('{${narrow.join()}}')`;
}

/** The name of a range within its facet: the values of `TallyOrder.rangeKey`. */
interface RangeKey {
  /** The value of the sorted column, as text; null in the first range, and in the order by identifier. */
  readonly value: string | null;
  /** An identifier, as text. */
  readonly lowest: string;
}

/** Adjacent ranges of a facet that are replaced by ranges of the target size. */
export interface Stretch {
  readonly facet: string;
  /** The first range. */
  readonly from: RangeKey;
  /** The next range after them; null at the end of the facet. */
  readonly upto: RangeKey | null;
  /** The target number of objects of a range. */
  readonly size: number;
}

/**
 * The facets whose ranges may need a cut. Most facets are one small range, and are not among them.
 *
 * @param among `undefined`: among all
 */
export async function uncutFacets(
  dataSource: DataSource,
  order: TallyOrder,
  among: readonly string[] | undefined,
): Promise<string[]> {
  const rows = await dataSource.query<{ facet: string }[]>(
    `SELECT facet FROM ${tallyRows(order, among && 'WHERE facet = ANY($1)')} GROUP BY facet
     HAVING count(*) > 1 OR sum(count) > 2 * ${minimumRangeSize(order)} OR sum(count) <= 0`,
    among && [among],
  );
  return rows.map(({ facet }) => facet);
}

/** The first stretch of a facet that needs a cut; `undefined` if none does. */
export async function nextStretch(
  manager: EntityManager,
  order: TallyOrder,
  facet: string,
): Promise<Stretch | undefined> {
  const { rangeKey, rangeKeyOrder } = order;
  const keyOf = (range: string): string =>
    `jsonb_build_object('value', ${order.column ? `${range}.value::text` : 'NULL'}, 'lowest', ${range}.lowest::text)`;
  const [stretch] = await manager.query<Stretch[]>(
    `WITH ranges AS (
       SELECT facet, ${rangeKey}, sum(count) AS count FROM ${tallyRows(order, 'WHERE facet = $1')}
       GROUP BY facet, ${rangeKey}
     ), sized AS (
       SELECT *, lag(count) OVER ordered AS before, row_number() OVER ordered AS at,
         ${rangeSize(order)} AS size, sum(count) OVER () AS total
       FROM ranges WINDOW ordered AS (ORDER BY ${rangeKeyOrder})
     ), grouped AS (
       SELECT *, count(*) FILTER (WHERE before IS NULL OR before + count >= size / 2)
         OVER (ORDER BY at) AS stretch
       FROM sized
     ), due AS (
       SELECT size, min(at) AS at, count(*) AS ranges FROM grouped GROUP BY stretch, size, total
       HAVING sum(count) > 2 * size OR count(*) > 1 OR total <= 0
       ORDER BY at LIMIT 1
     )
     SELECT $1 AS facet, due.size, ${keyOf('first')} AS from,
       CASE WHEN next.at IS NOT NULL THEN ${keyOf('next')} END AS upto
     FROM due JOIN sized first USING (at) LEFT JOIN sized next ON next.at = due.at + due.ranges`,
    [facet],
  );
  return stretch;
}

/** The condition that a row lies in a stretch. */
export function isInStretch(
  { identifier, column }: TallyOrder,
  { from, upto }: Stretch,
  values: ParameterValues,
  value: string,
  lowest: string,
): string {
  const row = column ? `(${value}, ${lowest})` : lowest;
  const keyOf = (range: RangeKey): string => {
    const first = column ? `${values.add(range.value)}::${sqlTypeOf(column)}, ` : '';
    return `(${first}${values.add(range.lowest)}::${sqlTypeOf(identifier)})`;
  };
  const isFirst = column !== undefined && from.value === null;
  // No row compares with the missing value of the first range.
  const above = isFirst ? [] : [`${row} >= ${keyOf(from)}`];
  const below = upto ? `${row} < ${keyOf(upto)}` : undefined;
  const conditions = below ? [...above, isFirst ? `(${value} IS NULL OR ${below})` : below] : above;
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}
