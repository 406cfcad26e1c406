import { MAXIMUM_SORTED, type Place, sortIsCheaper } from './picked-by-offset.js';
import { everyMatching, type Picking } from './picked-objects.js';

/**
 * The tables for the count of a list whose objects may have to be read to be counted, as those with a rare word:
 *
 * - `tallied`: the count if the tally knows it, else null, and whether the objects are to be found at once
 * - `found`: then all of them, unless there are more than can be sorted, with the columns of `everyMatching`
 * - `counted`: the number of matching objects
 *
 * So objects that are few are found once, and not again for the page.
 *
 * @param tallied an SQL expression for the count by the tally; null or absent if it does not know it
 */
export function foundOnce(picking: Picking, place: Place, tallied = 'NULL::bigint'): string[] {
  const { where } = picking;
  return [
    `tallied AS MATERIALIZED (
      SELECT total, total IS NULL OR ${sortIsCheaper(picking, place)} AS is_found
      FROM (SELECT ${tallied} AS total OFFSET 0) by_tally
    )`,
    `found AS MATERIALIZED (
      SELECT * FROM (${everyMatching(picking, '(SELECT is_found FROM tallied)')}) object
      LIMIT ${MAXIMUM_SORTED + 1}
    )`,
    `counted AS MATERIALIZED (
      SELECT CASE
        WHEN tallied.total IS NOT NULL THEN tallied.total
        WHEN each.total <= ${MAXIMUM_SORTED} THEN each.total
        ELSE (SELECT count(*) FROM object ${where})
      END AS total
      FROM tallied, (SELECT count(*) AS total FROM found) each
    )`,
  ];
}
