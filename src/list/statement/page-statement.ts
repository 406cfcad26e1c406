import type { EntityMetadata } from 'typeorm';
import { ParameterValues, type Statement, statement } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { identifierOf, tableOf } from '../../resource/resource.js';
import { jsonArray, selection } from '../../resource/selection.js';
import type { SortKey } from '../query/list-query.dto.js';
import type { KnownList } from './known-lists.js';
import type { Listing } from '../listing/listing.js';
import { foundOnce } from './found-once.js';
import { type MatchingObjects, objectTable } from './matching-objects.js';
import { orderBy } from '../listing/order.js';
import { pickedByOffset } from './picked-by-offset.js';
import { MINIMUM_GRID_OFFSET, pickedInGrid } from './picked-in-grid.js';
import { pickedBehindByRelevance, pickedByRelevance } from './picked-by-relevance.js';
import {
  and,
  pickedBehind,
  pickedBehindKey,
  pickedFromStart,
  type Picking,
  anchorOf,
} from './picked-objects.js';
import { visibleObjects, visibleRelated } from '../listing/scope.js';
import { plannedOnce } from './planned-once.js';
import { countByWord, indexSizeOf, searchSizeOf } from './tallied-counts.js';
import { talliedList } from './tallied-list.js';
import { stateOf } from './state.js';

/** Which objects of a list a page shows, and how. */
export interface PageRequest {
  readonly fields?: readonly string[];
  /** The total order of the list, or of objects of the same relevance. */
  readonly order: readonly SortKey[];
  readonly isByRelevance: boolean;
  readonly limit: number;
  readonly offset: number;
  /** How many objects behind the page are looked up, if its place is known. Default: 0. */
  readonly ahead?: number;
  /** The identifier of the object behind which the page begins. The offset is then 0. */
  readonly after?: string;
  /** Whether the statement may be one whose plan does not depend on the values. Default: true. */
  readonly mayBePlannedOnce?: boolean;
  /** What the client sees. */
  readonly seen: Pick<Listing, 'scope' | 'client'>;
}

/** The statement for a page. */
export interface PageStatement {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  /** Whether its result is right only at the version of what is known. */
  readonly usesKnown: boolean;
  /** Whether one plan is as good as one for the values. */
  readonly isPlannedOnce: boolean;
}

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
 * - `value_at`, `group_at`: the object at the rank of the offset; its value, and how many objects with it to skip
 * - `start`: the first object of the page. `start_rank` and `start_range` find it, and the like `value_at`
 * - `tallied`, `found`: the count if the tally knows it, and objects that are found at once (`foundOnce`)
 * - `counted`: the number of matching objects
 * - `anchor`: the object behind which the page begins
 * - `grid`, `part`: the cells of an interval, and the part of the identifiers with the offset (`pickedInGrid`)
 * - `way`: whether to sort, or in which direction to read (`pickedByOffset`)
 * - `valued`: the objects of the page with a value in the sorted column
 * - `picked`: the keys of the objects of the page. By relevance, each class has tables of its own
 * - `numbered`: the same with their places
 * - `page`: those of the page, if others ahead of it are picked, too
 *
 * @param resources whose version the row has
 */
export function pageStatement(
  metadata: EntityMetadata,
  described: MatchingObjects,
  request: PageRequest,
  resources: readonly string[],
  known?: Pick<KnownList, 'count' | 'before'>,
): PageStatement {
  const { order, isByRelevance, limit, offset, ahead = 0, after, seen } = request;
  const isShared = seen.scope.length === 0;
  const planned =
    known?.before || !isShared || !mayBePrepared(request)
      ? undefined
      : plannedOnce(metadata, described, request);
  const matching = planned ?? described;
  const isPlannedOnce = planned !== undefined || isFrequent(matching, request);
  const values = new ParameterValues(matching.values, isPlannedOnce);
  const visible = visibleObjects(metadata, seen.scope, values);
  const number = (value: number): string => `(${values.addTyped(value, 'bigint')})`;
  const picking: Picking = {
    metadata,
    where: matching.where,
    split: matching.split,
    isFoundFirst: matching.isFoundFirst,
    inOrder: matching.inOrder,
    indexChoice: matching.indexChoice,
    visible,
    order,
    limit: number(limit + ahead),
    values,
  };
  const tables = [objectTable(metadata), ...(matching.indexChoice?.tables ?? [])];
  const addCount = (total: string): void => {
    tables.push(`counted AS MATERIALIZED (SELECT ${total} AS total)`);
  };
  let usesKnown = known !== undefined;
  if (known?.before) {
    addCount(`${values.add(known.count)}::bigint`);
    tables.push(...pickedBehindKey(picking, known.before));
  } else {
    const at = offset > 0 ? number(offset) : undefined;
    const tallied = talliedList(matching, {
      metadata,
      order,
      offset: at,
      hasKnownCount: known !== undefined,
      values,
    });
    tables.push(...tallied.tables);
    const { countUnlessRead } = tallied;
    usesKnown &&= tallied.count === undefined;
    const isFound =
      !known &&
      after === undefined &&
      (countUnlessRead !== undefined ||
        (tallied.count === undefined && mustBeVisited(matching, request)));
    const isPlaced = at !== undefined && tallied.valuedCount !== undefined;
    // A statement must refer to every parameter that is added.
    const isSized = after === undefined && !isPlaced && matching.where !== '';
    const indexSize = isSized ? indexSizeOf(metadata, matching, order, values) : undefined;
    const searchSize =
      isSized && !isByRelevance ? searchSizeOf(metadata, matching, values) : undefined;
    const place = { offset: at, indexSize, searchSize, isFound };
    if (isFound) {
      const count = countUnlessRead ?? countByWord(metadata, matching, false, values);
      tables.push(...foundOnce(picking, place, count));
    } else if (tallied.count !== undefined) {
      addCount(tallied.count);
    } else if (known) {
      addCount(`${values.add(known.count)}::bigint`);
    } else {
      const count = `(SELECT count(*) FROM object ${matching.where})`;
      const tally = countUnlessRead ?? countByWord(metadata, matching, false, values);
      addCount(tally === undefined ? count : `coalesce(${tally}, ${count})`);
    }
    if (after !== undefined && isByRelevance) {
      tables.push(...pickedBehindByRelevance(matching, picking, after));
    } else if (after !== undefined) {
      tables.push(anchorOf(picking, after), pickedBehind(picking));
    } else if (isPlaced) {
      tables.push(...pickedFromStart(picking, `greatest(${at} - ${tallied.valuedCount}, 0)`));
    } else if (tallied.inGrid && offset >= MINIMUM_GRID_OFFSET) {
      tables.push(...pickedInGrid(picking, place, tallied.inGrid));
    } else {
      tables.push(
        ...(isByRelevance
          ? pickedByRelevance(matching, picking, place)
          : pickedByOffset(picking, place)),
      );
    }
  }
  const { databaseName: identifier } = identifierOf(metadata);
  const keys = order.map(({ field }) => `"${field}"::text`).join(', ');
  const first = isByRelevance ? 'picked."#class"' : undefined;
  const ordering = orderBy(metadata, order, 'picked', first);
  tables.push(
    `numbered AS MATERIALIZED (
      SELECT *, row_number() OVER (${ordering}) AS "#at" FROM picked
    )`,
  );
  let isAhead = 'false';
  if (ahead > 0) {
    const shown = `${values.add(limit)}::bigint`;
    isAhead = `"#at" > ${shown}`;
    tables.push(`page AS (SELECT * FROM numbered WHERE "#at" <= ${shown})`);
  }
  const page = ahead > 0 ? 'page' : 'numbered';
  const text = `WITH ${tables.join(',\n')}
    SELECT ${pageObjects(metadata, page, request, visible, values)} AS objects,
      (SELECT total::text FROM counted) AS count,
      (SELECT json_build_array(${keys}) FROM numbered ORDER BY "#at" DESC LIMIT 1) AS key,
      (SELECT json_agg("${identifier}"::text ORDER BY "#at") FROM numbered WHERE ${isAhead}) AS ahead,
      (SELECT "${identifier}"::text FROM ${page} ORDER BY "#at" DESC LIMIT 1) AS last,
      (SELECT count(*) FROM ${page})::text AS rows,
      ${after === undefined ? 'true' : 'EXISTS (SELECT FROM anchor)'}::text AS begun,
      ${stateOf(resources)}`;
  const prepared = isFrequent(matching, request);
  return {
    statement: statement(text, { prepared }),
    values: values.values,
    usesKnown,
    isPlannedOnce,
  };
}

/**
 * The statement for the page of objects with identifiers, in their order, at the version at which they were
 * found. It is planned once for each resource.
 *
 * @param count of all matching objects
 */
export function knownPageStatement(
  metadata: EntityMetadata,
  identifiers: readonly string[],
  count: string,
  request: PageRequest,
  resources: readonly string[],
): PageStatement {
  const { fields, seen } = request;
  const values = new ParameterValues();
  const { databaseName: identifier } = identifierOf(metadata);
  const type = sqlTypeOf(identifierOf(metadata));
  const visible = visibleObjects(metadata, seen.scope, values);
  const found = `(SELECT * FROM unnest(${values.add(identifiers)}::${type}[])
    WITH ORDINALITY AS found("${identifier}", "#at"))`;
  // Lock order: table before tally.
  const text = `SELECT ${pageObjects(metadata, found, request, visible, values)} AS objects,
      ${values.add(count)}::text AS count, NULL AS key, NULL AS ahead,
      ${values.add(identifiers.at(-1))}::text AS last, ${values.add(String(identifiers.length))}::text AS rows,
      'true' AS begun, ${stateOf(resources)}`;
  const prepared = fields === undefined && visible.length === 0;
  return {
    statement: statement(text, { prepared }),
    values: values.values,
    usesKnown: true,
    isPlannedOnce: prepared,
  };
}

/** The objects of a table of identifiers with places, as JSON: an SQL expression. */
function pageObjects(
  metadata: EntityMetadata,
  table: string,
  { fields, seen }: Pick<PageRequest, 'fields' | 'seen'>,
  visible: readonly string[],
  values: ParameterValues,
): string {
  const { databaseName: identifier } = identifierOf(metadata);
  return jsonArray(
    `SELECT ${selection(metadata, fields, visibleRelated(seen.client, values))}
     FROM ${table} page CROSS JOIN LATERAL (
       SELECT * FROM ${tableOf(metadata)} object
       ${and(`WHERE object."${identifier}" = page."${identifier}"`, ...visible)} OFFSET 0
     ) object ORDER BY "#at"`,
  );
}

/**
 * Whether the objects of a list have to be visited to be counted: no index has the words of a search beside what
 * else is compared. By relevance, there are two lists, each with a count of its own.
 */
function mustBeVisited({ search }: MatchingObjects, { isByRelevance }: PageRequest): boolean {
  return search !== undefined && !isByRelevance;
}

/** Whether the statement for a page may be prepared: with every field, not of a list that is two or goes on behind an object. */
function mayBePrepared(request: PageRequest): boolean {
  const { fields, isByRelevance, after, mayBePlannedOnce = true } = request;
  return mayBePlannedOnce && fields === undefined && !isByRelevance && after === undefined;
}

/**
 * Whether a page is one of few variants, whose best plan does not depend on the values: all objects of a
 * resource behind one of them, with every field, in the order of one column. There are too many variants of
 * other pages.
 */
function isFrequent({ where }: MatchingObjects, { fields, order, after }: PageRequest): boolean {
  return after !== undefined && where === '' && fields === undefined && order.length <= 2;
}
