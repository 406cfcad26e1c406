import type { PageToRead } from '../statement/page-request.js';
import type { Picking } from '../statement/picked-objects.js';
import { type Counted, countMatching } from '../statement/tallied-counts.js';
import { collected } from './collected.js';
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

/** The first way that fits. */
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
