import { anchorOf, pickedBehind } from '../statement/picked-objects.js';
import { countPlanOf } from './count-plans.js';
import type { PagePlan } from './plan.js';
import { pickedPage } from './picked-page.js';

/** Reads on from the object that `after` names. */
export const behindObject: PagePlan = {
  name: 'behind-object',

  of(page) {
    const { matching, request } = page;
    const { after, fields, isByRelevance, order } = request;
    if (after === undefined) return 'without after';
    if (isByRelevance) return 'by relevance';
    const count = countPlanOf(page);
    // There are too many variants of other pages.
    const isPrepared = matching.where === '' && fields === undefined && order.length <= 2;
    return pickedPage(page, isPrepared ? 'always' : 'never', count, (picking) => [
      ...count.made(picking),
      anchorOf(picking, after),
      pickedBehind(picking),
    ]);
  },
};
