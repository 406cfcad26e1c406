import { ParameterValues } from '../../database/statement.js';
import { MAXIMUM_SORTED, sortIsCheaper } from '../statement/picked-by-offset.js';
import { everyMatching } from '../statement/picked-objects.js';
import { countIfTallied } from '../statement/tallied-counts.js';
import type { CountPlan } from './count-plan.js';

/**
 * Finds the matching objects once, for count and page, if they are few: they have to be read to be counted, as those with
 * a rare word. The table `found` has them, but no more than can be sorted and one. If they are many, they are counted
 * by an index.
 */
export const found: CountPlan = {
  name: 'found',

  unfit({ matching, request: { after, isByRelevance } }) {
    if (after !== undefined || isByRelevance) return 'the page is not at an offset of one order';
    const mayBeFew =
      matching.search ?? countIfTallied({ ...matching, values: new ParameterValues() });
    return mayBeFew ? undefined : 'an index counts the objects';
  },

  tables(_, picking, place = {}) {
    const tallied = countIfTallied(picking);
    return [
      ...(tallied?.tables ?? []),
      `tallied AS MATERIALIZED (
        SELECT total, total IS NULL OR ${sortIsCheaper(picking, place)} AS is_found
        FROM (SELECT ${tallied?.total ?? 'NULL::bigint'} AS total OFFSET 0) by_tally
      )`,
      `found AS MATERIALIZED (
        SELECT * FROM (${everyMatching(picking, '(SELECT is_found FROM tallied)')}) object
        LIMIT ${MAXIMUM_SORTED + 1}
      )`,
      `counted AS MATERIALIZED (
        SELECT CASE
          WHEN tallied.total IS NOT NULL THEN tallied.total
          WHEN each.total <= ${MAXIMUM_SORTED} THEN each.total
          ELSE (SELECT count(*) FROM object ${picking.where})
        END AS total
        FROM tallied, (SELECT count(*) AS total FROM found) each
      )`,
    ];
  },
};
