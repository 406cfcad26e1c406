import { FENCE, MAXIMUM_SORTED } from '../../database/planner.js';
import { sortIsCheaper } from '../statement/picked-by-offset.js';
import { everyMatching } from '../statement/picked-objects.js';
import type { CountPlan } from './plan.js';

/**
 * Collects the matching objects once, for count and page, if they are few: they have to be read to be counted, as those
 * with a rare word. The table `collected` has them, but no more than can be sorted and one. If they are many, an index
 * counts them.
 */
export const collected: CountPlan = {
  name: 'collected',

  of({ matching: { search, tallied }, request: { after, isByRelevance } }) {
    if (after !== undefined || isByRelevance) return 'the page is not at an offset of one order';
    if (!search && !tallied) return 'an index counts the objects';
    return (picking, depth = {}) => {
      const { tables, total } = tallied?.sql(picking) ?? { tables: [], total: 'NULL::bigint' };
      return [
        ...tables,
        `tallied AS MATERIALIZED (
          SELECT total, total IS NULL OR ${sortIsCheaper(picking, depth)} AS is_collected
          FROM (SELECT ${total} AS total ${FENCE}) by_tally
        )`,
        `collected AS MATERIALIZED (
          SELECT * FROM (${everyMatching(picking, '(SELECT is_collected FROM tallied)')}) object
          LIMIT ${MAXIMUM_SORTED + 1}
        )`,
        `counted AS MATERIALIZED (
          SELECT CASE
            WHEN tallied.total IS NOT NULL THEN tallied.total
            WHEN each.total <= ${MAXIMUM_SORTED} THEN each.total
            ELSE (SELECT count(*) FROM object ${picking.where})
          END AS total
          FROM tallied, (SELECT count(*) AS total FROM collected) each
        )`,
      ];
    };
  },
};
