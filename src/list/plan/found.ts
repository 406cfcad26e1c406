import { ParameterValues } from '../../database/statement.js';
import { MAXIMUM_SORTED, pickedByOffset, sortIsCheaper } from '../statement/picked-by-offset.js';
import { everyMatching } from '../statement/picked-objects.js';
import { countByWord } from '../statement/tallied-counts.js';
import { placeOf } from './ordered.js';
import type { PagePlan } from './page-plan.js';
import { pickedPage, sqlOffset, talliedPage } from './picked-page.js';

/**
 * Finds the matching objects once, for count and page, if they are few: they have to be read to be counted, as those with
 * a rare word. If they are many, the statement reads the list in its order.
 */
export const found: PagePlan = {
  name: 'found',

  unfit(page) {
    if (page.known) return 'the count is remembered';
    const { count, countUnlessRead } = talliedPage(page, undefined, new ParameterValues());
    if (countUnlessRead !== undefined) return undefined;
    if (count !== undefined) return 'the tally knows the count';
    return page.matching.search ? undefined : 'an index counts the objects';
  },

  statement(page, keep) {
    return pickedPage(page, keep, (picking) => {
      const { values, where } = picking;
      const offset = sqlOffset(page, values);
      const { tables, countUnlessRead } = talliedPage(page, offset, values);
      const place = { ...placeOf(picking, offset), isFound: true };
      const tallied = countUnlessRead ?? countByWord(picking, false) ?? 'NULL::bigint';
      return {
        tables: [
          ...tables,
          `tallied AS MATERIALIZED (
            SELECT total, total IS NULL OR ${sortIsCheaper(picking, place)} AS is_found
            FROM (SELECT ${tallied} AS total OFFSET 0) by_tally
          )`,
          // Not those that are more than can be sorted.
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
          ...pickedByOffset(picking, place),
        ],
        count: 'found',
      };
    });
  },
};
