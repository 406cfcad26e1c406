import type { EntityManager } from 'typeorm';

/** Maximum number of deltas that one transaction folds. */
export const FOLD_SIZE = 50_000;

/**
 * Adds deltas to a tally, at most `FOLD_SIZE`. Returns how many, and the facets that they belong to; none for those of
 * a grid.
 *
 * @param key the columns that identify a row of the tally
 */
export async function foldDeltas(
  manager: EntityManager,
  { tally, deltas }: { tally: string; deltas: string },
  key: string,
): Promise<{ deltas: number; facets: string[] }> {
  const hasFacets = key.includes('facet');
  const folded = await manager.query<{ facet: string | null; deltas: string }[]>(
    `WITH deleted AS (
       DELETE FROM ${deltas}
       WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${deltas} LIMIT ${FOLD_SIZE}))
       RETURNING ${key}, count
     ), kept AS (
       INSERT INTO ${tally} AS tally (${key}, count)
       SELECT ${key}, sum(count) FROM deleted GROUP BY ${key}
       ON CONFLICT (${key}) DO UPDATE SET count = tally.count + excluded.count
     )
     SELECT ${hasFacets ? 'facet' : 'NULL'} AS facet, count(*) AS deltas FROM deleted GROUP BY 1`,
  );
  return {
    deltas: folded.reduce((sum, { deltas: count }) => sum + Number(count), 0),
    facets: folded.flatMap(({ facet }) => facet ?? []),
  };
}
