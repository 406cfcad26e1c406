import type { EntityManager, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { ParameterValues } from '../database/statement.js';
import { sqlTypeOf } from '../resource/column-values.js';
import { tableOf } from '../resource/resource.js';
import { facetValues, IS_COMBINED_FACET, recountOf, tallyRows } from './facet.js';
import type { CellTally, TallyOrder } from './described-tally.js';

/** Adjacent ranges of a facet that are replaced by ranges of the target size. */
interface Stretch {
  readonly facet: string;
  /** The first range. */
  readonly from: RangeKey;
  /** The next range after them; null at the end of the facet. */
  readonly upto: RangeKey | null;
  /** The target number of objects of a range. */
  readonly size: number;
}

/** The name of a range within its facet: its value and its lowest identifier, or only that, as text. The first value is null. */
type RangeKey = readonly (string | null)[];

/** The columns of a tally that name a range within its facet, each with the column whose values it has. */
function keyOf({ identifier, column }: TallyOrder): { name: string; of: ColumnMetadata }[] {
  return [...(column ? [{ name: 'value', of: column }] : []), { name: 'lowest', of: identifier }];
}

/**
 * SQL for the minimum target number of objects of a range of `facet`. Combinations of columns have many
 * facets, and deep pages of them are rare.
 */
const MINIMUM_SIZE = `CASE WHEN ${IS_COMBINED_FACET} THEN 20000 ELSE 2000 END`;

/**
 * The first stretch of each facet that needs a cut.
 *
 * The target size grows with the square root of the objects of the facet. Finding an offset adds up the ranges and then
 * skips within one, so both grow alike. A small facet is one range.
 *
 * @param facets those that are looked at; `undefined`: all
 * @param rangeSize the target size; by default that of each facet
 */
export function stretchesDue(
  manager: EntityManager,
  order: TallyOrder,
  facets: readonly string[] | undefined,
  rangeSize?: number,
): Promise<Stretch[]> {
  const { rangeKey, rangeKeyOrder } = order;
  const rows = tallyRows(order, facets && 'WHERE facet = ANY($1)');
  const key = keyOf(order).map(({ name }) => `${name}::text`);
  const minimum = rangeSize ?? MINIMUM_SIZE;
  const size = rangeSize ?? `greatest(${minimum}, 4 * sqrt(abs(total)))`;
  return manager.query<Stretch[]>(
    // Most facets are one small range. There may be hundreds of thousands of these.
    `WITH large AS (
       SELECT facet FROM ${rows} GROUP BY facet
       HAVING count(*) > 1 OR sum(count) > 2 * ${minimum} OR sum(count) <= 0
     ), ranges AS (
       SELECT facet, ${rangeKey}, sum(count) AS count FROM ${rows}
       WHERE facet IN (SELECT facet FROM large) GROUP BY facet, ${rangeKey}
     ), sized AS (
       SELECT facet, count, jsonb_build_array(${key.join(', ')}) AS key, total,
         (${size})::integer AS size,
         row_number() OVER ordered AS at, lag(count) OVER ordered AS before
       FROM (SELECT *, sum(count) OVER (PARTITION BY facet) AS total FROM ranges) totalled
       WINDOW ordered AS (PARTITION BY facet ORDER BY ${rangeKeyOrder})
     ), grouped AS (
       SELECT *, count(*) FILTER (WHERE before IS NULL OR before + count >= size / 2)
         OVER (PARTITION BY facet ORDER BY at) AS stretch
       FROM sized
     ), stretches AS (
       SELECT facet, size, total, min(at) AS at, count(*) AS ranges, sum(count) AS objects,
         (array_agg(key ORDER BY at))[1] AS from
       FROM grouped GROUP BY facet, stretch, size, total
     ), bounded AS (
       SELECT *, lead("from") OVER (PARTITION BY facet ORDER BY at) AS upto FROM stretches
     )
     SELECT DISTINCT ON (facet) facet, "from", upto, size FROM bounded
     WHERE objects > 2 * size OR ranges > 1 OR total <= 0 ORDER BY facet, at`,
    facets && [facets],
  );
}

/**
 * Replaces the ranges of a stretch. The caller holds the lock.
 *
 * @param objects how many it may read, or two ranges if those are more
 * @returns how many it has read
 */
export async function recut(
  manager: EntityManager,
  metadata: EntityMetadata,
  order: TallyOrder,
  stretch: Stretch,
  objects: number,
): Promise<number> {
  const { tally, deltas, rangeKey } = order;
  const { facet, from, size } = stretch;
  const removal = new ParameterValues();
  const names = keyOf(order).map(({ name }) => name);
  const removed = `facet = ${removal.add(facet)} AND ${isInStretch(order, stretch, removal, names)}`;
  const [{ total }] = await manager.query<[{ total: string }]>(
    `WITH deleted AS (
       DELETE FROM ${tally} WHERE ${removed} RETURNING count
     ), deleted_deltas AS (
       DELETE FROM ${deltas} WHERE ${removed} RETURNING count
     )
     SELECT coalesce(sum(count), 0)::text AS total
     FROM (SELECT count FROM deleted UNION ALL SELECT count FROM deleted_deltas) every`,
    removal.values,
  );
  const maximum = Math.max(2, Math.floor(objects / size)) * size;
  const values = new ParameterValues();
  const key = keyOf(order);
  const conditions = [
    isInStretch(
      order,
      stretch,
      values,
      key.map(({ of }) => `object."${of.databaseName}"`),
    ),
    ...(order.column ? [`object."${order.column.databaseName}" IS NOT NULL`] : []),
    ...facetValues(facet).map(([name, value]) => `object."${name}" = ${values.add(value)}`),
  ];
  const selected = key.map(({ name, of }) => `object."${of.databaseName}" AS ${name}`);
  // The first range keeps its name.
  const named = key.map(
    ({ name, of }, at) =>
      `CASE at WHEN 0 THEN ${values.add(from[at])}::${sqlTypeOf(of)} ELSE ${name} END`,
  );
  // The objects beyond the maximum become one range with the last that was read, to be cut next.
  await manager.query(
    `INSERT INTO ${tally} (facet, ${rangeKey}, count)
     SELECT ${values.add(facet)}, ${named.join(', ')}, coalesce(lead(at) OVER (ORDER BY at), ${total}) - at
     FROM (
       SELECT *, row_number() OVER (ORDER BY ${rangeKey}) - 1 AS at FROM (
         SELECT ${selected.join(', ')} FROM ${tableOf(metadata)} object
         WHERE ${conditions.join(' AND ')} ORDER BY ${rangeKey} LIMIT ${maximum + 1}
       ) first
     ) numbered
     WHERE at % ${size} = 0`,
    values.values,
  );
  return Math.min(Number(total), maximum);
}

/**
 * The condition that a row lies in a stretch.
 *
 * @param row its value and its identifier, or only that, in SQL
 */
function isInStretch(
  order: TallyOrder,
  { from, upto }: Stretch,
  values: ParameterValues,
  row: readonly string[],
): string {
  const key = keyOf(order);
  const compared = (operator: string, range: RangeKey): string => {
    const texts = key.map(({ of }, at) => `${values.add(range[at])}::${sqlTypeOf(of)}`);
    return `(${row.join(', ')}) ${operator} (${texts.join(', ')})`;
  };
  // No row compares with the missing value of the first range.
  const isFirst = from[0] === null;
  const above = isFirst ? 'true' : compared('>=', from);
  if (!upto) return above;
  const below = compared('<', upto);
  return `${above} AND ${isFirst ? `(${row[0]} IS NULL OR ${below})` : below}`;
}

/** A cut of cells that is due: a cell is divided, or joined with the one before it. */
export interface CellCut {
  readonly kind: 'divide' | 'join';
  readonly cell: number;
  /** The cell before it; null if it is the first. */
  readonly before: number | null;
  /** Its own lowest value and that of the next cell, as SQL literals; null if it is the first, or the last one. */
  readonly lowest: string | null;
  readonly upto: string | null;
  /** The target number of objects of a cell. */
  readonly size: number;
}

/**
 * The first cut of cells that is due, or none. The target size grows with the square root of the objects, since both the
 * whole cells of an interval and the objects of those at its ends are read. A cell of one value is not divided.
 *
 * @param size the target number of objects of a cell; by default it follows from the objects
 */
export function cellCutsDue(
  manager: EntityManager,
  metadata: EntityMetadata,
  cells: CellTally,
  size?: number,
): Promise<CellCut[]> {
  const column = `object."${cells.column.databaseName}"`;
  return manager.query<CellCut[]>(
    // Lock order: table before tally, as TRUNCATE takes them; otherwise they deadlock.
    `WITH object AS NOT MATERIALIZED (SELECT * FROM ${tableOf(metadata)}), every AS (
       SELECT 0 AS cell, NULL AS lowest UNION ALL SELECT cell, lowest FROM ${cells.bounds}
     ), counts AS MATERIALIZED (
       SELECT cell, lowest, (
         SELECT coalesce(sum(count), 0) FROM ${tallyRows(cells, `WHERE word = every.cell::text AND facet = ''`)}
       ) AS count FROM every
     ), sized AS (
       SELECT cell, lowest, count, (${size ?? 'greatest(2000, 10 * sqrt(abs(sum(count) OVER ())))'})::integer AS size,
         lag(cell) OVER ordered AS before, lag(count) OVER ordered + count AS together, lead(lowest) OVER ordered AS upto
       FROM counts WINDOW ordered AS (ORDER BY lowest NULLS FIRST)
     )
     SELECT CASE WHEN together < size / 2 THEN 'join' ELSE 'divide' END AS kind, cell, before, size,
       quote_literal(lowest::text) AS lowest, quote_literal(upto::text) AS upto
     FROM sized WHERE together < size / 2 OR count > 2 * size AND (lowest IS NULL OR EXISTS (
       SELECT FROM (
         SELECT ${column} AS value FROM object
         WHERE ${column} > sized.lowest ORDER BY ${column} LIMIT 1
       ) next WHERE upto IS NULL OR value < upto
     ))
     LIMIT 1`,
  );
}

/**
 * Divides a cell, or joins it with the one before it. The caller holds the lock.
 *
 * @param objects how many it may read; more, if the target size of a cell or the lowest value of a new one has so many
 * @returns whether it has: with wrong counts, there may be nothing to divide
 */
export async function cutCells(
  manager: EntityManager,
  metadata: EntityMetadata,
  cells: CellTally,
  cut: CellCut,
  objects: number,
): Promise<boolean> {
  if (cut.kind === 'divide') return divide(manager, metadata, cells, cut, objects);
  const { tally, deltas, bounds } = cells;
  await manager.query(
    `WITH counted AS (
       DELETE FROM ${tally} WHERE word = $1 RETURNING facet, count
     ), since AS (
       DELETE FROM ${deltas} WHERE word = $1 RETURNING facet, count
     )
     INSERT INTO ${deltas} (word, facet, count)
     SELECT $2, facet, sum(count) FROM (SELECT * FROM counted UNION ALL SELECT * FROM since) every
     GROUP BY facet HAVING sum(count) <> 0`,
    [String(cut.cell), String(cut.before)],
  );
  await manager.query(`DELETE FROM ${bounds} WHERE cell = $1`, [cut.cell]);
  return true;
}

/** Cells of the target size from the upper end of a cell, which keeps the others of its objects. */
async function divide(
  manager: EntityManager,
  metadata: EntityMetadata,
  cells: CellTally,
  { cell, lowest, upto, size }: CellCut,
  objects: number,
): Promise<boolean> {
  const { bounds, deltas } = cells;
  const column = `"${cells.column.databaseName}"`;
  const type = sqlTypeOf(cells.column);
  const below = upto === null ? 'true' : `${column} < ${upto}::${type}`;
  const above = lowest === null ? `${column} IS NOT NULL` : `${column} > ${lowest}::${type}`;
  const from = `FROM ${tableOf(metadata)} WHERE ${above} AND ${below} ORDER BY ${column}`;
  const read = Math.max(1, Math.floor(objects / size)) * size;
  const add = (added: string): Promise<{ lowest: string }[]> =>
    manager.query(
      `WITH added AS (INSERT INTO ${bounds} (lowest) ${added} RETURNING *)
       SELECT quote_literal(lowest::text) AS lowest FROM added ORDER BY added.lowest LIMIT 1`,
    );
  const [first] = await add(
    `SELECT DISTINCT value FROM (
       SELECT ${column} AS value, row_number() OVER (ORDER BY ${column} DESC) AS at
       FROM (SELECT ${column} ${from} DESC LIMIT ${read}) last
     ) numbered WHERE at % ${size} = 0`,
  );
  // Without one, fewer objects than a cell has are above the lowest value.
  const [least] = first ? [first] : await add(`SELECT ${column} ${from} LIMIT 1`);
  if (!least) return false;
  const moved = `${column} >= ${least.lowest}::${type} AND ${below}`;
  const [{ recount }] = await manager.query<[{ recount: string }]>(
    ...recountOf(cells, true, moved),
  );
  await manager.query(
    `WITH moved(word, facet, count) AS MATERIALIZED (${recount})
     INSERT INTO ${deltas} (word, facet, count)
     SELECT * FROM moved UNION ALL SELECT '${cell}', facet, -sum(count) FROM moved GROUP BY facet`,
  );
  return true;
}
