import { pickedByOffset } from '../statement/picked-by-offset.js';
import { placeAt } from '../statement/place.js';
import { countPlanOf } from './count-plans.js';
import { found } from './found.js';
import type { PagePlan } from './page-plan.js';
import { pickedPage, sqlOffset } from './picked-page.js';

/**
 * Reads the list in its order, from the nearer end, or collects the matching objects and sorts them: the statement takes
 * what costs less.
 */
export const ordered: PagePlan = {
  name: 'ordered',

  unfit: () => undefined,

  statement(page, keep) {
    const count = countPlanOf(page);
    return pickedPage(page, keep, count, (picking) => {
      const place = {
        ...placeAt(picking, sqlOffset(page, picking.values)),
        isFound: count === found,
      };
      return [...count.tables(page, picking, place), ...pickedByOffset(picking, place)];
    });
  },
};
