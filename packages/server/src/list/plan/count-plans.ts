import { FENCE, MAXIMUM_SORTED } from '../../database/planner.js';
import type { PageToRead } from '../statement/page-statement.js';
import { sortIsCheaper } from '../statement/picked-by-offset.js';
import { everyMatching, type Picking } from '../statement/picked-objects.js';
import { type Counted, countMatching } from '../statement/tallied-counts.js';
import { type CountTaken, type CountPlan, firstFit } from './plan.js';

/** By the tally, which always knows the count of such a list. */
const tally: CountPlan = {
  name: 'tally',
  of: ({ matching: { tallied } }) =>
    tallied?.isSure ? countedByTally : 'the tally alone does not always know the count',
};

/** By an earlier page of the list. It is right only at the version of that page. */
const remembered: CountPlan = {
  name: 'remembered',
  of: ({ known }) =>
    known ? rememberedCount(known.count).made : 'no earlier page of the list is remembered',
};

/**
 * Collects the matching objects once, for count and page, if they are few: they have to be read to be counted, as those
 * with a rare word. The table `collected` has them, but no more than can be sorted and one. If they are many, an index
 * counts them.
 */
const collected: CountPlan = {
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

/** By the tally, if it turns out to know the count, or by an index. */
const tallyOrIndex: CountPlan = {
  name: 'tally or index',
  of: ({ matching: { tallied } }) => (tallied ? countedByTally : 'the tally never knows the count'),
};

/** By an index that carries the columns of the conditions, if there is one. */
const index: CountPlan = { name: 'index', of: () => countedByTally };

/** The ways to count a list in the order in which they are tried. The last one fits any list. */
export const COUNT_PLANS: readonly CountPlan[] = [
  tally,
  remembered,
  collected,
  tallyOrIndex,
  index,
];

export function countPlanOf(page: PageToRead): CountTaken {
  return firstFit(COUNT_PLANS, page);
}

/** The count that an earlier page had, for a page that goes on behind it. */
export function rememberedCount(count: string): CountTaken {
  return {
    name: 'remembered',
    unfit: [],
    made: ({ values }) => counted({ tables: [], total: `${values.add(count)}::bigint` }),
  };
}

function countedByTally(picking: Picking): string[] {
  return counted(countMatching(picking));
}

export function counted({ tables, total }: Counted): string[] {
  return [...tables, `counted AS MATERIALIZED (SELECT ${total} AS total)`];
}
