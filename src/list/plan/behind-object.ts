import { anchorOf, pickedBehind } from '../statement/picked-objects.js';
import { countPlanOf } from './count-plans.js';
import type { PagePlan } from './page-plan.js';
import { pickedPage } from './picked-page.js';

/** Reads on from the object that `after` names. */
export const behindObject: PagePlan = {
  name: 'behind-object',

  unfit({ request: { after, isByRelevance } }) {
    if (after === undefined) return 'without after';
    return isByRelevance ? 'by relevance' : undefined;
  },

  statement(page) {
    const { matching, request } = page;
    const { after = '', fields, order } = request;
    const count = countPlanOf(page);
    // There are too many variants of other pages.
    const isKept = matching.where === '' && fields === undefined && order.length <= 2;
    return pickedPage(page, isKept ? 'always' : 'never', count, (picking) => [
      ...count.tables(page, picking),
      anchorOf(picking, after),
      pickedBehind(picking),
    ]);
  },
};
