import { MAXIMUM_SORTED } from '../../database/planner.js';
import type { ParameterValues } from '../../database/statement.js';
import { and, whereOf } from '../condition/print.js';
import { searchSql } from '../condition/words.js';
import type { WordSearch } from '../condition/condition.js';
import { keysOf, orderBy } from '../listing/order.js';
import { inBranches } from '../statement/in-branches.js';
import { pickedByOffset } from '../statement/picked-by-offset.js';
import { anchorOf, isBehind, pickedBehind, type Picking } from '../statement/picked-objects.js';
import { indexSizeOf } from '../statement/depth.js';
import { countByWord } from '../statement/tallied-counts.js';
import { countPlanOf } from './count-plans.js';
import { pickedPage, sqlOffset } from './picked-page.js';
import type { PagePlan } from './plan.js';

/**
 * Reads two lists, one behind the other, each in the order of its keys: objects with all words in the title, and the
 * others. A finer order would have to read and rank every match.
 */
export const relevance: PagePlan = {
  name: 'relevance',

  of(page) {
    const { after, isByRelevance } = page.request;
    if (!isByRelevance) return 'in the order of columns';
    const count = countPlanOf(page);
    return pickedPage(page, 'never', count, (picking) => [
      ...count.made(picking),
      ...(after === undefined
        ? pickedByOffsets(picking, sqlOffset(page, picking.values))
        : behind(picking, after)),
    ]);
  },
};

/** An SQL condition on `object`: its title has all words of a search, or an identifier equals the text. */
export function isTitled(search: WordSearch, values: ParameterValues): string {
  return searchSql(search, `object."${search.column}"`, { values, table: 'object', inTitle: true });
}

const IS_TITLED_ANCHOR = '(SELECT "#titled" FROM anchor)';

/** What it takes to find the object behind which a list begins. */
type Anchoring = Pick<Picking, 'metadata' | 'visible' | 'order' | 'values'>;

/** The table `anchor` as of `anchorOf`, with `#titled` as well. */
export function anchorByRelevance(
  search: WordSearch,
  picking: Anchoring,
  identifier: string,
): string {
  return anchorOf(picking, identifier, `${isTitled(search, picking.values)} IS TRUE AS "#titled"`);
}

/** A condition: an object comes behind the one in `anchor`, in the order of relevance. */
export function behindByRelevance(search: WordSearch, { order, values }: Anchoring): string {
  const isTitledObject = `(${isTitled(search, values)} IS TRUE)`;
  return `(${IS_TITLED_ANCHOR} AND NOT ${isTitledObject}
    OR ${IS_TITLED_ANCHOR} = ${isTitledObject} AND ${isBehind(order)})`;
}

/**
 * The tables for the objects of a page: `picked` has the columns of their order, and `#class`, which comes before them.
 * Refers to `counted`, the number of matching objects. The first page need not know how many titled objects there are if
 * they fill it.
 */
function pickedByOffsets(picking: Picking, offset: string | undefined): string[] {
  const { limit } = picking;
  const indexSize = indexSizeOf(picking);
  const { titled, others } = classesOf(picking);
  const byWord = picking.criteria && countByWord(picking.metadata, picking.criteria, true);
  const some = `LIMIT greatest(${limit}, ${MAXIMUM_SORTED}) + 1`;
  const count = `(SELECT count(*) FROM (
      SELECT FROM object ${titled.where} ${offset ? '' : some}
    ) titled)`;
  return [
    `counted_titled AS MATERIALIZED (
      SELECT ${byWord ? `coalesce(${byWord(titled)}, ${count})` : count} AS total
    )`,
    ...pickedByOffset(titled, { offset, indexSize }, '_titled'),
    `counted_others AS MATERIALIZED (
      SELECT counted.total - counted_titled.total AS total FROM counted, counted_titled
    )`,
    ...pickedByOffset(
      { ...others, limit: `(${limit} - (SELECT count(*) FROM picked_titled))` },
      {
        offset: offset && `greatest(${offset} - (SELECT total FROM counted_titled), 0)`,
        indexSize,
      },
      '_others',
    ),
    `picked AS MATERIALIZED (
      SELECT *, 1 AS "#class" FROM picked_titled UNION ALL SELECT *, 2 FROM picked_others
    )`,
  ];
}

/** The tables for a page behind an object: the rest of the titled objects and all others, or the rest of the others. */
function behind(picking: Picking, identifier: string): string[] {
  const { order, limit } = picking;
  // A statement must refer to every parameter that is added.
  const { titled, others } = classesOf({ ...picking, split: undefined });
  return [
    anchorByRelevance(searchOf(picking), picking, identifier),
    pickedBehind({ ...titled, where: and(titled.where, IS_TITLED_ANCHOR) }, '_titled'),
    pickedBehind({ ...others, where: and(others.where, `NOT ${IS_TITLED_ANCHOR}`) }, '_behind'),
    `picked_others AS MATERIALIZED (${inBranches(
      picking,
      { limit },
      (ordering, ...branch) =>
        `SELECT ${keysOf(order)} FROM object ${and(others.where, IS_TITLED_ANCHOR, ...branch)} ${ordering}`,
    )})`,
    `picked AS MATERIALIZED (
      SELECT * FROM (
        SELECT *, 1 AS "#class" FROM picked_titled
        UNION ALL SELECT *, 2 FROM picked_behind
        UNION ALL SELECT *, 2 FROM picked_others
      ) object ${orderBy(order, 'object', '"#class"')} LIMIT ${limit}
    )`,
  ];
}

function searchOf({ search }: Picking): WordSearch {
  if (search) return search;
  throw new TypeError('A list by relevance needs a condition of containsWords');
}

/** The objects with and without all words in the title. */
function classesOf(picking: Picking): { titled: Picking; others: Picking } {
  const { conditions, where, split, metadata, values } = picking;
  const isOther = `${isTitled(searchOf(picking), values)} IS NOT TRUE`;
  const context = { metadata, values, inTitle: true };
  return {
    titled: {
      ...picking,
      where: whereOf(conditions, context),
      split: split && { ...split, others: whereOf(conditions.slice(split.carriedCount), context) },
    },
    others: {
      ...picking,
      where: and(where, isOther),
      split: split && { ...split, others: and(split.others, isOther) },
    },
  };
}
