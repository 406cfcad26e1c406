import { searchSql } from '../condition/words.js';
import type { Search } from './criteria.js';
import { type MatchingObjects } from './matching-objects.js';
import { keysOf, orderBy } from '../listing/order.js';
import { inBranches } from './in-branches.js';
import { MAXIMUM_SORTED, pickedByOffset } from './picked-by-offset.js';
import {
  type Anchoring,
  isBehind,
  pickedBehind,
  type Picking,
  anchorOf,
} from './picked-objects.js';
import { and, whereOf } from '../condition/print.js';
import { countByWord } from './tallied-counts.js';
import type { ParameterValues } from '../../database/statement.js';

/**
 * An SQL condition on `object`: its title has all words of a search, or an identifier equals the text. By
 * relevance, such objects come before others. A finer order would have to read and rank every match.
 */
export function isTitled(search: Search, values: ParameterValues): string {
  return searchSql(search, `object."${search.column}"`, { values, table: 'object', inTitle: true });
}

/**
 * The tables for the objects of a page in the order of relevance: `picked` has the columns of their order,
 * and `#class`, which comes before them. Refers to `counted`, the number of matching objects.
 *
 * Titled objects and the others are two lists, one behind the other, each in the order of `picking`. The first
 * page need not know how many titled objects there are if they fill it.
 */
export function pickedByRelevance(
  matching: MatchingObjects,
  picking: Picking,
  { offset, indexSize }: { readonly offset?: string; readonly indexSize?: string },
): string[] {
  const { metadata, values, limit } = picking;
  const search = searchOf(matching);
  const { titled, others } = classesOf(matching, search, picking);
  const byWord = countByWord(metadata, { ...matching, ...titled }, true, values);
  const some = `LIMIT greatest(${limit}, ${MAXIMUM_SORTED}) + 1`;
  const count = `(SELECT count(*) FROM (
      SELECT FROM object ${titled.where} ${offset ? '' : some}
    ) titled)`;
  return [
    `counted_titled AS MATERIALIZED (
      SELECT ${byWord === undefined ? count : `coalesce(${byWord}, ${count})`} AS total
    )`,
    ...pickedByOffset({ ...picking, ...titled }, { offset, indexSize }, '_titled'),
    `counted_others AS MATERIALIZED (
      SELECT counted.total - counted_titled.total AS total FROM counted, counted_titled
    )`,
    ...pickedByOffset(
      { ...picking, ...others, limit: `(${limit} - (SELECT count(*) FROM picked_titled))` },
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

/**
 * The tables for a page behind an object, in the order of relevance: the rest of the titled objects and all
 * others, or the rest of the others.
 */
export function pickedBehindByRelevance(
  matching: MatchingObjects,
  picking: Picking,
  identifier: string,
): string[] {
  const { metadata, order, limit } = picking;
  const search = searchOf(matching);
  // A statement must refer to every parameter that is added.
  const { titled, others } = classesOf({ ...matching, split: undefined }, search, picking);
  const isTitledAnchor = '(SELECT "#titled" FROM anchor)';
  return [
    anchorByRelevance(search, picking, identifier),
    pickedBehind({ ...picking, where: and(titled.where, isTitledAnchor) }, '_titled'),
    pickedBehind({ ...picking, where: and(others.where, `NOT ${isTitledAnchor}`) }, '_behind'),
    `picked_others AS MATERIALIZED (${inBranches(
      picking,
      { limit },
      (ordering, ...branch) =>
        `SELECT ${keysOf(order)} FROM object ${and(others.where, isTitledAnchor, ...branch)} ${ordering}`,
    )})`,
    `picked AS MATERIALIZED (
      SELECT * FROM (
        SELECT *, 1 AS "#class" FROM picked_titled
        UNION ALL SELECT *, 2 FROM picked_behind
        UNION ALL SELECT *, 2 FROM picked_others
      ) object ${orderBy(metadata, order, 'object', '"#class"')} LIMIT ${limit}
    )`,
  ];
}

/** The table `anchor` as of `anchorOf`, with `#titled` as well. */
export function anchorByRelevance(search: Search, picking: Anchoring, identifier: string): string {
  return anchorOf(picking, identifier, `${isTitled(search, picking.values)} IS TRUE AS "#titled"`);
}

/** A condition: an object comes behind the one in `anchor`, in the order of relevance. */
export function behindByRelevance(
  search: Search,
  { metadata, order, values }: Pick<Picking, 'metadata' | 'order' | 'values'>,
): string {
  const isTitledObject = `(${isTitled(search, values)} IS TRUE)`;
  const isTitledAnchor = '(SELECT "#titled" FROM anchor)';
  return `(${isTitledAnchor} AND NOT ${isTitledObject}
    OR ${isTitledAnchor} = ${isTitledObject} AND ${isBehind(metadata, order)})`;
}

function searchOf({ search }: MatchingObjects): Search {
  if (search) return search;
  throw new TypeError('A list by relevance needs a condition of containsWords');
}

type Class = Pick<MatchingObjects, 'where' | 'split'>;

/** The conditions of matching objects with and without all words in the title. */
function classesOf(
  { conditions, where, split }: MatchingObjects,
  search: Search,
  { metadata, values }: Picking,
): { titled: Class; others: Class } {
  const isOther = `${isTitled(search, values)} IS NOT TRUE`;
  const place = { metadata, values, inTitle: true };
  return {
    titled: {
      where: whereOf(conditions, place),
      split: split && { ...split, others: whereOf(conditions.slice(split.carriedCount), place) },
    },
    others: {
      where: and(where, isOther),
      split: split && { ...split, others: and(split.others, isOther) },
    },
  };
}
