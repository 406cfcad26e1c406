import { MAXIMUM_SORTED } from '../../database/planner.js';
import type { ParameterValues } from '../../database/statement.js';
import { and, whereOf } from '../condition/print.js';
import { searchSql } from '../condition/words.js';
import type { WordSearch } from '../condition/condition.js';
import { keysOf, orderBy } from '../listing/order.js';
import {
  anchorOf,
  inBranches,
  isBehind,
  pickedBehind,
  type Picking,
} from '../statement/picked-objects.js';
import { indexSizeOf, pickedByOffset } from '../statement/picked-by-offset.js';
import { countByWord } from '../statement/tallied-counts.js';

/** An SQL expression on `object`: the number of the list that it is in. */
export function relevanceOf(search: WordSearch, values: ParameterValues): string {
  const [isNamed, isTitled] = [isOf('named', search, values), isOf('titled', search, values)];
  return `CASE WHEN ${isNamed} THEN 1 WHEN ${isTitled} THEN 2 ELSE 3 END`;
}

/** The number of the list that the object in `anchor` is in. */
const ANCHOR = '(SELECT "#list" FROM anchor)';

/** What it takes to find the object behind which a list begins. */
type Anchoring = Pick<Picking, 'metadata' | 'visible' | 'order' | 'values'>;

/** The table `anchor` as of `anchorOf`, with `#list` as well. */
export function anchorByRelevance(
  search: WordSearch,
  picking: Anchoring,
  identifier: string,
): string {
  return anchorOf(picking, identifier, `${relevanceOf(search, picking.values)} AS "#list"`);
}

/** A condition: an object comes behind the one in `anchor`, in the order of relevance. */
export function behindByRelevance(search: WordSearch, { order, values }: Anchoring): string {
  const number = relevanceOf(search, values);
  return `(${number} > ${ANCHOR} OR ${number} = ${ANCHOR} AND ${isBehind(order)})`;
}

/**
 * The tables for the objects of a page: `picked` has the columns of their order, and `#list`, which comes before them.
 * Refers to `counted`, the number of matching objects.
 *
 * There are three lists, one behind the other, each in the order of its keys: the objects that the text names, the others
 * with all words in the title, and the rest. A finer order would have to read and rank every match. The first page need
 * not know how many objects a list has if they fill it.
 */
export function pickedByRelevance(picking: Picking, offset: string | undefined): string[] {
  const { limit, metadata, criteria } = picking;
  const indexSize = indexSizeOf(picking);
  const { named, titled, rest } = listsOf(picking);
  const byWord = criteria && countByWord(metadata, criteria, true);
  const some = `LIMIT greatest(${limit}, ${MAXIMUM_SORTED}) + 1`;
  const count = (where: string, limited = ''): string =>
    `(SELECT count(*) FROM (SELECT FROM object ${where} ${limited}) counted_objects)`;
  const atOnce = count(titled.where, offset ? '' : some);
  const lists = [
    { name: 'named', list: named, total: count(named.where, offset ? '' : some) },
    {
      name: 'titled',
      list: titled,
      total: byWord
        ? `coalesce(${byWord(titled)} - ${count(and(named.where, isOf('titled', searchOf(picking), picking.values)))}, ${atOnce})`
        : atOnce,
    },
    {
      name: 'rest',
      list: rest,
      total: `(SELECT total FROM counted) - (SELECT total FROM counted_named) - (SELECT total FROM counted_titled)`,
    },
  ];
  const tables: string[] = [];
  const picked: string[] = [];
  let [left, skipped] = [limit, offset];
  for (const [at, { name, list, total }] of lists.entries()) {
    tables.push(
      `counted_${name} AS MATERIALIZED (SELECT ${total} AS total)`,
      ...pickedByOffset({ ...list, limit: left }, { offset: skipped, indexSize }, `_${name}`),
    );
    picked.push(`SELECT *, ${at + 1} AS "#list" FROM picked_${name}`);
    left = `(${left} - (SELECT count(*) FROM picked_${name}))`;
    skipped &&= `greatest(${skipped} - (SELECT total FROM counted_${name}), 0)`;
  }
  return [...tables, `picked AS MATERIALIZED (${picked.join(' UNION ALL ')})`];
}

/** The tables for a page behind an object: the rest of its list, and the lists behind that one. */
export function pickedBehindByRelevance(picking: Picking, identifier: string): string[] {
  const { order, limit } = picking;
  const tables = [anchorByRelevance(searchOf(picking), picking, identifier)];
  const picked: string[] = [];
  // A statement must refer to every parameter that is added.
  const lists = Object.entries(listsOf({ ...picking, split: undefined }));
  for (const [at, [name, list]] of lists.entries()) {
    const number = at + 1;
    const isIn = and(list.where, `${ANCHOR} = ${number}`);
    tables.push(pickedBehind({ ...list, where: isIn }, `_behind_${name}`));
    picked.push(`SELECT *, ${number} AS "#list" FROM picked_behind_${name}`);
    if (at === 0) continue;
    const isBefore = and(list.where, `${ANCHOR} < ${number}`);
    const select = (ordering: string, ...branch: readonly string[]): string =>
      `SELECT ${keysOf(order)} FROM object ${and(isBefore, ...branch)} ${ordering}`;
    tables.push(`picked_${name} AS MATERIALIZED (${inBranches(picking, { limit }, select)})`);
    picked.push(`SELECT *, ${number} FROM picked_${name}`);
  }
  return [
    ...tables,
    `picked AS MATERIALIZED (
      SELECT * FROM (${picked.join(' UNION ALL ')}) object ${orderBy(order, 'object', '"#list"')} LIMIT ${limit}
    )`,
  ];
}

function searchOf({ search }: Picking): WordSearch {
  if (search) return search;
  throw new TypeError('A list by relevance needs a condition of containsWords');
}

/** The condition that the text of a search names an object, or that the title has all words. */
function isOf(only: 'named' | 'titled', search: WordSearch, values: ParameterValues): string {
  return `(${searchSql(search, `object."${search.column}"`, { values, only })})`;
}

/** The lists of which one by relevance consists. */
function listsOf(picking: Picking): Record<'named' | 'titled' | 'rest', Picking> {
  const { conditions, where, split, metadata, values } = picking;
  const search = searchOf(picking);
  const titled = { metadata, values, only: 'titled' } as const;
  const list = (all: string, others: string, ...isListed: string[]): Picking => ({
    ...picking,
    where: and(all, ...isListed),
    split: split && { ...split, others: and(others, ...isListed) },
  });
  const others = split?.others ?? '';
  const isNamed = isOf('named', search, values);
  const isNotNamed = `${isNamed} IS NOT TRUE`;
  return {
    named: list(where, others, isNamed),
    titled: list(
      whereOf(conditions, titled),
      split ? whereOf(conditions.slice(split.carriedCount), titled) : '',
      isNotNamed,
    ),
    rest: list(where, others, `${isOf('titled', search, values)} IS NOT TRUE`, isNotNamed),
  };
}
