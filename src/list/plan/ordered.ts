import { pickedByOffset, type Place } from '../statement/picked-by-offset.js';
import type { Picking } from '../statement/picked-objects.js';
import { indexSizeOf, searchSizeOf } from '../statement/tallied-counts.js';
import type { PagePlan } from './page-plan.js';
import { counted, pickedPage, sqlOffset, talliedPage } from './picked-page.js';

/**
 * Reads the list in its order, from the nearer end, or collects the matching objects and sorts them: the statement takes
 * what costs less.
 */
export const ordered: PagePlan = {
  name: 'ordered',

  unfit: () => undefined,

  statement(page, keep) {
    return pickedPage(page, keep, (picking) => {
      const offset = sqlOffset(page, picking.values);
      const tallied = talliedPage(page, offset, picking.values);
      return counted(page, picking, tallied, pickedByOffset(picking, placeOf(picking, offset)));
    });
  },
};

export function placeOf(picking: Picking, offset: string | undefined): Place {
  // A statement must refer to every parameter that is added.
  if (picking.where === '') return { offset };
  return {
    offset,
    indexSize: indexSizeOf(picking),
    searchSize: searchSizeOf(picking),
  };
}
