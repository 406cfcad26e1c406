import type { EntityManager, EntityMetadata } from 'typeorm';
import { sqlTypeOf } from '../resource/column-values.js';
import { tableOf } from '../resource/resource.js';
import { type CellTally, recountOf, tallyRows } from './tally.js';

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
