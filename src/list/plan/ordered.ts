import { ParameterValues } from '../../database/statement.js';
import { foundOnce } from '../statement/found-once.js';
import type { MatchingObjects } from '../statement/matching-objects.js';
import { pickedByOffset, type Place } from '../statement/picked-by-offset.js';
import type { Picking } from '../statement/picked-objects.js';
import { countByWord, indexSizeOf, searchSizeOf } from '../statement/tallied-counts.js';
import type { PagePlan } from './page-plan.js';
import { countedTable, pickedPage, sqlOffset, talliedPage } from './picked-page.js';

/**
 * Finds the matching objects once, for count and page, if they are few: they have to be read to be counted. If they are
 * many, the statement reads the list in its order.
 */
export const found: PagePlan = {
  name: 'found',

  unfit(page) {
    if (page.known) return 'the count is remembered';
    const { count, countUnlessRead } = talliedPage(page, undefined, new ParameterValues());
    if (countUnlessRead !== undefined) return undefined;
    if (count !== undefined) return 'the tally knows the count';
    return page.matching.search ? undefined : 'an index counts the objects';
  },

  statement(page, mayBePlannedOnce) {
    return pickedPage(page, { mayBePlannedOnce }, (picking, matching) => {
      const { metadata, values } = picking;
      const offset = sqlOffset(page, values);
      const { tables, countUnlessRead } = talliedPage(page, offset, values);
      const place = { ...placeOf(matching, picking, offset), isFound: true };
      const total = countUnlessRead ?? countByWord(metadata, matching, false, values);
      return {
        tables: [...tables, ...foundOnce(picking, place, total), ...pickedByOffset(picking, place)],
        count: 'found',
      };
    });
  },
};

/**
 * Reads the list in its order, from the nearer end, or collects the matching objects and sorts them: the statement takes
 * what costs less.
 */
export const ordered: PagePlan = {
  name: 'ordered',

  unfit: () => undefined,

  statement(page, mayBePlannedOnce) {
    return pickedPage(page, { mayBePlannedOnce }, (picking, matching) => {
      const offset = sqlOffset(page, picking.values);
      const tallied = talliedPage(page, offset, picking.values);
      const place = placeOf(matching, picking, offset);
      const { tables, count } = countedTable(page, matching, picking, tallied);
      return {
        tables: [...tallied.tables, ...tables, ...pickedByOffset(picking, place)],
        count,
      };
    });
  },
};

function placeOf(matching: MatchingObjects, picking: Picking, offset: string | undefined): Place {
  const { metadata, order, values } = picking;
  // A statement must refer to every parameter that is added.
  if (matching.where === '') return { offset };
  return {
    offset,
    indexSize: indexSizeOf(metadata, matching, order, values),
    searchSize: searchSizeOf(metadata, matching, values),
  };
}
