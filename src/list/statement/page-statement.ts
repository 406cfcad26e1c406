import { ParameterValues, statement } from '../../database/statement.js';
import { visibleIn } from '../listing/scope.js';
import { foundOnce } from './found-once.js';
import type { KnownList } from './known-lists.js';
import { type MatchingObjects, objectTable } from './matching-objects.js';
import type { PageRequest, PageStatement, RequestedPage } from './page-request.js';
import { pageText } from './page-text.js';
import { pickedByOffset, type Place } from './picked-by-offset.js';
import { pickedBehindByRelevance, pickedByRelevance } from './picked-by-relevance.js';
import {
  anchorOf,
  pickedBehind,
  pickedBehindKey,
  pickedFromStart,
  type Picking,
} from './picked-objects.js';
import { plannedOnce } from './planned-once.js';
import { countByWord, indexSizeOf, searchSizeOf } from './tallied-counts.js';
import { talliedList, type TalliedList } from './tallied-list.js';

/** What is known of a list before a page of it is read. */
type Known = Pick<KnownList, 'count' | 'before'>;

/**
 * The statement for a page, and its parameter values. It finds the identifiers of the page first, from
 * an index alone if that carries the columns of the conditions, and reads only these objects. It takes
 * the count and the place of the offset from what is known, or from the tally.
 *
 * Its row also has `key`, the key of the last object that it found as JSON, `ahead`, the identifiers of those
 * behind the page as JSON, and `begun`, whether there is an object at the place where the page shall begin.
 *
 * Its common table expressions, of which it has those that it needs, in this order:
 *
 * - `object`: the table of the resource
 * - `first_range`, `rarer`: which of two indexes finds fewer objects (`indexChoice`)
 * - `ranges`, `bounds`: the ranges of the tally, and how many objects precede each (`TallyPositions`)
 * - `outside`: how many objects are below and above an interval
 * - `start`: the first object of the page. `start_rank` and `start_range` find it
 * - `value_at`: the object at the rank of the offset, if only its value is in `start`. The like tables find it
 * - `tallied`, `found`: the count if the tally knows it, and objects that are found at once (`foundOnce`)
 * - `counted`: the number of matching objects
 * - `anchor`: the object behind which the page begins
 * - `way`: whether to sort, or in which direction to read (`pickedByOffset`)
 * - `picked`: the keys of the objects of the page. By relevance, each class has tables of its own
 * - `numbered`: the same with their places
 * - `page`: those of the page, if others ahead of it are picked, too
 *
 * @param known what is known of the list at its offset
 * @param ahead how many objects behind the page are looked up, if its place is known
 * @param mayBePlannedOnce whether the statement may be one whose plan does not depend on the values
 */
export function pageStatement(
  { metadata, matching: described, request, resources }: RequestedPage,
  {
    known,
    ahead = 0,
    mayBePlannedOnce = true,
  }: { known?: Known | undefined; ahead?: number; mayBePlannedOnce?: boolean } = {},
): PageStatement {
  const planned =
    mayBePlannedOnce && !known?.before && mayBePrepared(request)
      ? plannedOnce(metadata, described, request)
      : undefined;
  const matching = planned ?? described;
  const prepared = isFrequent(matching, request);
  const isPlannedOnce = planned !== undefined || prepared;
  const values = new ParameterValues(matching.values, isPlannedOnce);
  const picking: Picking = {
    ...matching,
    metadata,
    visible: visibleIn(metadata, request.seen.scope, values),
    order: request.order,
    limit: sqlNumber(request.limit + ahead, values),
    values,
  };
  const { tables, usesKnown } = known?.before
    ? {
        tables: [counted(sqlCount(known, values)), ...pickedBehindKey(picking, known.before)],
        usesKnown: true,
      }
    : placedTables(matching, picking, request, known);
  const text = pageText(
    [objectTable(metadata), ...(matching.indexChoice?.tables ?? []), ...tables],
    picking,
    request,
    ahead,
    resources,
  );
  const { values: parameters } = values;
  return { statement: statement(text, { prepared }), values: parameters, usesKnown, isPlannedOnce };
}

/** The tables for the count and the objects of a page whose place is to be found. */
function placedTables(
  matching: MatchingObjects,
  picking: Picking,
  request: PageRequest,
  known: Known | undefined,
): { tables: string[]; usesKnown: boolean } {
  const { metadata, order, values } = picking;
  const { after, isByRelevance } = request;
  const offset = request.offset > 0 ? sqlNumber(request.offset, values) : undefined;
  const hasKnownCount = known !== undefined;
  const tallied = talliedList(matching, { metadata, order, offset, hasKnownCount, values });
  const isPlaced = offset !== undefined && tallied.valuedCount !== undefined;
  // A statement must refer to every parameter that is added.
  const isSized = after === undefined && !isPlaced && matching.where !== '';
  const place: Place = {
    offset,
    indexSize: isSized ? indexSizeOf(metadata, matching, order, values) : undefined,
    searchSize: isSized && !isByRelevance ? searchSizeOf(metadata, matching, values) : undefined,
    isFound: !known && after === undefined && mustBeRead(matching, tallied, request),
  };
  const count = countTables(matching, picking, tallied, place, known);
  const page = pickedTables(matching, picking, tallied, place, request);
  return {
    tables: [...tallied.tables, ...count, ...page],
    usesKnown: hasKnownCount && tallied.count === undefined,
  };
}

/** The table `counted`, and those that find objects on the way. */
function countTables(
  matching: MatchingObjects,
  picking: Picking,
  { count, countUnlessRead }: TalliedList,
  place: Place,
  known: Known | undefined,
): string[] {
  const { metadata, values } = picking;
  const byTally = () => countUnlessRead ?? countByWord(metadata, matching, false, values);
  if (place.isFound) return foundOnce(picking, place, byTally());
  if (count !== undefined) return [counted(count)];
  if (known) return [counted(sqlCount(known, values))];
  const byIndex = `(SELECT count(*) FROM object ${matching.where})`;
  const tally = byTally();
  return [counted(tally === undefined ? byIndex : `coalesce(${tally}, ${byIndex})`)];
}

/** The table `picked`, and those that find its objects. */
function pickedTables(
  matching: MatchingObjects,
  picking: Picking,
  { valuedCount }: TalliedList,
  place: Place,
  { after, isByRelevance }: PageRequest,
): string[] {
  if (after !== undefined) {
    return isByRelevance
      ? pickedBehindByRelevance(matching, picking, after)
      : [anchorOf(picking, after), pickedBehind(picking)];
  }
  if (place.offset !== undefined && valuedCount !== undefined) {
    return [pickedFromStart(picking, `greatest(${place.offset} - ${valuedCount}, 0)`)];
  }
  return isByRelevance
    ? pickedByRelevance(matching, picking, place)
    : pickedByOffset(picking, place);
}

/** @param total an SQL expression */
function counted(total: string): string {
  return `counted AS MATERIALIZED (SELECT ${total} AS total)`;
}

function sqlCount({ count }: Known, values: ParameterValues): string {
  return `${values.add(count)}::bigint`;
}

function sqlNumber(value: number, values: ParameterValues): string {
  return `(${values.addTyped(value, 'bigint')})`;
}

/**
 * Whether the objects of a list have to be read to be counted: the tally does not know the count unless they are,
 * or no index has the words of a search beside what else is compared. By relevance, there are two lists, each with
 * a count of its own.
 */
function mustBeRead(
  { search }: MatchingObjects,
  { count, countUnlessRead }: TalliedList,
  { isByRelevance }: PageRequest,
): boolean {
  return (
    countUnlessRead !== undefined || (count === undefined && search !== undefined && !isByRelevance)
  );
}

/**
 * Whether the statement for a page may be prepared: with every field of every object, not of a list that is two or
 * goes on behind an object.
 */
function mayBePrepared({ fields, isByRelevance, after, seen }: PageRequest): boolean {
  const isWhole = fields === undefined && seen.scope.length === 0;
  return isWhole && !isByRelevance && after === undefined;
}

/**
 * Whether a page is one of few variants, whose best plan does not depend on the values: all objects of a
 * resource behind one of them, with every field, in the order of one column. There are too many variants of
 * other pages.
 */
function isFrequent({ where }: MatchingObjects, { fields, order, after }: PageRequest): boolean {
  return after !== undefined && where === '' && fields === undefined && order.length <= 2;
}
