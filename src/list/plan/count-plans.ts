import { ParameterValues } from '../../database/statement.js';
import type { PageToRead } from '../statement/page-request.js';
import {
  countByIndex,
  type Counted,
  countIfTallied,
  talliedCount,
} from '../statement/tallied-counts.js';
import type { CountPlan } from './count-plan.js';
import { found } from './found.js';

/** By the tally, which always knows the count of such a list. */
export const tally: CountPlan = {
  name: 'tally',
  unfit: ({ matching }) =>
    talliedCount({ ...matching, values: new ParameterValues() })
      ? undefined
      : 'the tally does not always know the count',
  tables: (_, picking) => counted(talliedCount(picking)),
};

/** By an earlier page of the list. It is right only at the version of that page. */
export const remembered: CountPlan = {
  name: 'remembered',
  unfit: ({ known }) => (known ? undefined : 'no earlier page of the list is remembered'),
  tables: ({ known }, { values }) =>
    counted({ tables: [], total: `${values.add(known?.count)}::bigint` }),
};

/** By the tally, if it turns out to know the count, or by an index. */
const tallyOrIndex: CountPlan = {
  name: 'tally or index',
  unfit: ({ matching }) =>
    countIfTallied({ ...matching, values: new ParameterValues() })
      ? undefined
      : 'the tally never knows the count',
  tables: (_, picking) => counted(countByIndex(picking)),
};

/** By an index that carries the columns of the conditions, if there is one. */
const index: CountPlan = { ...tallyOrIndex, name: 'index', unfit: () => undefined };

/** The ways to count a list in the order in which they are tried. The last one fits any list. */
export const COUNT_PLANS: readonly CountPlan[] = [tally, remembered, found, tallyOrIndex, index];

/** The first way that fits. */
export function countPlanOf(page: PageToRead): CountPlan {
  return COUNT_PLANS.find(({ unfit }) => unfit(page) === undefined) ?? index;
}

/** @throws TypeError without a count: the plan does not fit */
export function counted(by: Counted | undefined): string[] {
  if (!by) throw new TypeError('The count is not known');
  return [...by.tables, `counted AS MATERIALIZED (SELECT ${by.total} AS total)`];
}
