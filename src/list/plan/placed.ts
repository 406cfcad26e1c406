import { ParameterValues } from '../../database/statement.js';
import { pickedFromStart } from '../statement/picked-objects.js';
import { talliedPlace } from '../statement/tallied-place.js';
import { counted, tally } from './count-plans.js';
import type { PagePlan } from './page-plan.js';
import { pickedPage, sqlOffset } from './picked-page.js';

/** Reads on from the place of the offset, which the tally knows. */
export const placed: PagePlan = {
  name: 'placed',

  unfit({ matching, request: { offset, order } }) {
    if (offset === 0) return 'the first page';
    return talliedPlace(matching, order, '0', new ParameterValues())
      ? undefined
      : 'the tally has no place of the offset';
  },

  statement(page, keep) {
    return pickedPage(page, keep, tally, (picking) => {
      const { order, values } = picking;
      const offset = sqlOffset(page, values) ?? '0';
      const place = talliedPlace(picking, order, offset, values);
      const missing = `greatest(${offset} - ${place?.valuedCount ?? '0'}, 0)`;
      return [...counted(place), pickedFromStart(picking, missing)];
    });
  },
};
