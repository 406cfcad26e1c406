import { ParameterValues } from '../../database/statement.js';
import { pickedFromStart } from '../statement/picked-objects.js';
import type { PageToRead } from '../statement/page-request.js';
import type { PagePlan } from './page-plan.js';
import { countedTable, pickedPage, sqlOffset, talliedPage } from './picked-page.js';

/** Reads on from the place of the offset, which the tally knows. */
export const placed: PagePlan = {
  name: 'placed',

  unfit(page) {
    if (page.request.offset === 0) return 'the first page';
    return valuedCount(page) === undefined ? 'the tally has no place of the offset' : undefined;
  },

  statement(page, mayBePlannedOnce) {
    return pickedPage(page, { mayBePlannedOnce }, (picking, matching) => {
      const offset = sqlOffset(page, picking.values) ?? '0';
      const tallied = talliedPage(page, offset, picking.values);
      const { tables, count } = countedTable(page, matching, picking, tallied);
      const missing = `greatest(${offset} - ${tallied.valuedCount ?? '0'}, 0)`;
      return { tables: [...tallied.tables, ...tables, pickedFromStart(picking, missing)], count };
    });
  },
};

function valuedCount(page: PageToRead): string | undefined {
  return talliedPage(page, '0', new ParameterValues()).valuedCount;
}
