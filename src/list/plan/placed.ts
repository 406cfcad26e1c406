import { ParameterValues } from '../../database/statement.js';
import { pickedFromStart } from '../statement/picked-objects.js';
import type { PagePlan } from './page-plan.js';
import { counted, pickedPage, sqlOffset, talliedPage } from './picked-page.js';

/** Reads on from the place of the offset, which the tally knows. */
export const placed: PagePlan = {
  name: 'placed',

  unfit(page) {
    if (page.request.offset === 0) return 'the first page';
    const { valuedCount } = talliedPage(page, '0', new ParameterValues());
    return valuedCount === undefined ? 'the tally has no place of the offset' : undefined;
  },

  statement(page, keep) {
    return pickedPage(page, keep, (picking) => {
      const offset = sqlOffset(page, picking.values) ?? '0';
      const tallied = talliedPage(page, offset, picking.values);
      const missing = `greatest(${offset} - ${tallied.valuedCount ?? '0'}, 0)`;
      return counted(page, picking, tallied, [pickedFromStart(picking, missing)]);
    });
  },
};
