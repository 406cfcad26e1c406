import { countedTable, pickedPage, talliedPage } from './picked-page.js';
import type { PagePlan } from './page-plan.js';
import { objectsAhead } from './walk.js';
import { anchorOf, pickedBehind, pickedBehindKey } from '../statement/picked-objects.js';

/** Reads on from where an earlier page of the list ended, whose last key is remembered. */
export const behindPage: PagePlan = {
  name: 'behind-page',

  unfit: ({ known }) => (known?.before ? undefined : 'no page is known that ended at the offset'),

  statement(page) {
    const { known, request } = page;
    const { before } = known ?? {};
    if (!before) throw new TypeError('The page before is not known');
    return pickedPage(
      page,
      {},
      (picking, matching) => {
        const { tables, count } = countedTable(page, matching, picking, { tables: [] });
        return { tables: [...tables, ...pickedBehindKey(picking, before)], count };
      },
      objectsAhead(known, request.limit),
    );
  },
};

/** Reads on from the object that `after` names. */
export const behindObject: PagePlan = {
  name: 'behind-object',

  unfit: ({ request: { after, isByRelevance } }) =>
    after === undefined ? 'without after' : isByRelevance ? 'by relevance' : undefined,

  statement(page) {
    const { matching, request } = page;
    const { after = '', fields, order } = request;
    // There are too many variants of other pages.
    const prepared = matching.where === '' && fields === undefined && order.length <= 2;
    return pickedPage(page, { prepared }, (picking) => {
      const tallied = talliedPage(page, undefined, picking.values);
      const { tables, count } = countedTable(page, matching, picking, tallied);
      return {
        tables: [...tallied.tables, ...tables, anchorOf(picking, after), pickedBehind(picking)],
        count,
      };
    });
  },
};
