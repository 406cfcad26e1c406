import { depthAt } from '../statement/depth.js';
import { pickedByOffset } from '../statement/picked-by-offset.js';
import { countPlanOf } from './count-plans.js';
import { pickedPage, sqlOffset } from './picked-page.js';
import type { PagePlan } from './plan.js';

/**
 * Reads the list in its order, from the nearer end, or collects the matching objects and sorts them: the statement takes
 * what costs less.
 */
export const ordered: PagePlan = {
  name: 'ordered',

  of(page) {
    const count = countPlanOf(page);
    return pickedPage(page, 'if frequent', count, (picking) => {
      const depth = {
        ...depthAt(picking, sqlOffset(page, picking.values)),
        isCollected: count.name === 'collected',
      };
      return [...count.made(picking, depth), ...pickedByOffset(picking, depth)];
    });
  },
};
