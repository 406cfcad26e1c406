import { pickedBehindByRelevance, pickedByRelevance } from '../statement/picked-by-relevance.js';
import { indexSizeOf } from '../statement/tallied-counts.js';
import type { PagePlan } from './page-plan.js';
import { countedTable, pickedPage, sqlOffset, talliedPage } from './picked-page.js';

/** Reads two lists, one behind the other: objects with all words in the title, and the others. */
export const relevance: PagePlan = {
  name: 'relevance',

  unfit: ({ request }) => (request.isByRelevance ? undefined : 'in the order of columns'),

  statement(page) {
    const { metadata, matching, request } = page;
    return pickedPage(page, {}, (picking) => {
      const { order, values } = picking;
      const offset = sqlOffset(page, values);
      const tallied = talliedPage(page, offset, values);
      const { tables, count } = countedTable(page, matching, picking, tallied);
      const picked =
        request.after === undefined
          ? pickedByRelevance(matching, picking, {
              offset,
              indexSize: indexSizeOf(metadata, matching, order, values),
            })
          : pickedBehindByRelevance(matching, picking, request.after);
      return { tables: [...tallied.tables, ...tables, ...picked], count };
    });
  },
};
