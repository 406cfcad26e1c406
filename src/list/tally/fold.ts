import type { EntityManager } from 'typeorm';

/** Maximum number of deltas of one table that a transaction folds. */
export const FOLD_SIZE = 50_000;

/** The tables of a tally, quoted, and the columns that identify a row of it. */
export interface Tally {
  readonly tally: string;
  readonly deltas: string;
  readonly key: string;
}

/**
 * Adds deltas to a tally, at most `FOLD_SIZE`. Returns how many of each group.
 *
 * @param group an SQL expression on the deltas. Default: all are one group.
 */
export async function foldDeltas(
  manager: EntityManager,
  { tally, deltas, key }: Tally,
  group = `''`,
): Promise<ReadonlyMap<string, number>> {
  const folded = await manager.query<{ name: string; deltas: string }[]>(
    `WITH deleted AS (
       DELETE FROM ${deltas}
       WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${deltas} LIMIT ${FOLD_SIZE}))
       RETURNING ${key}, count
     ), kept AS (
       INSERT INTO ${tally} AS tally (${key}, count)
       SELECT ${key}, sum(count) FROM deleted GROUP BY ${key}
       ON CONFLICT (${key}) DO UPDATE SET count = tally.count + excluded.count
     )
     SELECT ${group} AS name, count(*) AS deltas FROM deleted GROUP BY 1`,
  );
  return new Map(folded.map(({ name, deltas: count }) => [name, Number(count)]));
}
