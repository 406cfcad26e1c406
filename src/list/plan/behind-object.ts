import { anchorOf, pickedBehind } from '../statement/picked-objects.js';
import type { PagePlan } from './page-plan.js';
import { counted, pickedPage, talliedPage } from './picked-page.js';

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
    // There are too many variants of other pages.
    const isKept = matching.where === '' && fields === undefined && order.length <= 2;
    return pickedPage(page, isKept ? 'always' : 'never', (picking) => {
      const tallied = talliedPage(page, undefined, picking.values);
      return counted(page, picking, tallied, [anchorOf(picking, after), pickedBehind(picking)]);
    });
  },
};
