import { pickedFromStart } from '../statement/picked-objects.js';
import { talliedPlace } from '../statement/tallied-place.js';
import { counted } from './count-plans.js';
import { pickedPage, sqlOffset } from './picked-page.js';
import type { PagePlan } from './plan.js';

/** Reads on from the place of the offset, which the tally knows. */
export const placed: PagePlan = {
  name: 'placed',

  of(page) {
    const { matching, request } = page;
    if (request.offset === 0) return 'the first page';
    const placeOf = talliedPlace(matching, request.order);
    if (!placeOf) return 'the tally has no place of the offset';
    return pickedPage(page, 'if frequent', { name: 'tally', unfit: [] }, (picking) => {
      const offset = sqlOffset(page, picking.values) ?? '0';
      const place = placeOf(offset, picking.values);
      const missing = `greatest(${offset} - ${place.valuedCount}, 0)`;
      return [...counted(place), pickedFromStart(picking, missing)];
    });
  },
};
