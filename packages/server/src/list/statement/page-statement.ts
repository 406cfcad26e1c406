import type { EntityMetadata } from 'typeorm';
import { FENCE } from '../../database/planner.js';
import { ParameterValues } from '../../database/statement.js';
import { carriedColumnsOf } from '../../resource/list-indexes.js';
import { hasOwnTable, identifierOf, tableOf } from '../../resource/resource.js';
import { jsonArray, selection } from '../../resource/selection.js';
import { columnsIn, type Condition, type WordSearch } from '../condition/condition.js';
import { and, sqlEach } from '../condition/print.js';
import { orderBy, type OrderKey } from '../listing/order.js';
import { type VisibleListing, visibleRelated } from '../visibility/visible-listing.js';
import { searchIn } from './criteria.js';
import type { KnownList } from './known-lists.js';
import type { Picking } from './picked-objects.js';
import { type Tallied, talliedBy } from './tallied-counts.js';

/** The objects that match the conditions of a list, as parts of SQL statements on `object`. */
export interface MatchingObjects extends Tallied {
  readonly metadata: EntityMetadata;
  /** The search for words, also beside conditions that criteria cannot say. */
  readonly search: WordSearch | undefined;
  /** The conditions of the list, those first that the index in its order carries. */
  readonly conditions: readonly Condition[];
  /** The conditions as `WHERE …`, or empty. Their parameters are the first ones of a statement. */
  readonly where: string;
  readonly values: readonly unknown[];
  /**
   * The conditions that the index in the order of the list carries, as `where`, and the others behind
   * `WHERE`. Absent if it carries all of them, or none.
   */
  readonly split?: Split;
  /**
   * Whether the index of a column that is compared carries all of them, but not every column of the order:
   * then the identifiers of the matching objects are found first, without visiting any object.
   */
  readonly isLookedUp?: boolean;
  /**
   * The conditions as `where`, in a form for which PostgreSQL reads no index but one in the order of the list;
   * see `plannedOnce`. Default: `where`.
   */
  readonly inOrder?: string;
}

/** Conditions of which an index carries the first ones. */
interface Split {
  readonly carriedCount: number;
  readonly carried: string;
  readonly others: string;
}

/** @param order the total order of the list */
export function matchingObjects(
  { repository: { metadata }, conditions }: VisibleListing,
  order: readonly OrderKey[],
): MatchingObjects {
  const values = new ParameterValues();
  const context = { metadata, values };
  const [first] = order;
  const columns = first ? carriedColumnsOf(metadata, first.column.propertyName) : [];
  const isCarried = (condition: Condition): boolean =>
    columnsIn([condition]).every((column) => columns.includes(column));
  const [carried, others] = [
    conditions.filter(isCarried),
    conditions.filter((condition) => !isCarried(condition)),
  ];
  const [carriedSql, othersSql] = [sqlEach(carried, context), sqlEach(others, context)];
  const every = columnsIn(conditions);
  const isLookedUp =
    conditions.length > 1 &&
    every.some((column) => {
      const along = carriedColumnsOf(metadata, column);
      return (
        every.every((each) => along.includes(each)) &&
        !order.every(({ column: { propertyName } }) => along.includes(propertyName))
      );
    });
  const isSplit = carried.length > 0 && others.length > 0;
  return {
    metadata,
    ...talliedBy(metadata, conditions),
    search: searchIn(conditions),
    conditions: [...carried, ...others],
    isLookedUp,
    where: and('', ...carriedSql, ...othersSql),
    values: values.values,
    ...(isSplit && {
      split: {
        carriedCount: carried.length,
        carried: and('', ...carriedSql),
        others: and('', ...othersSql),
      },
    }),
  };
}

/** The table of a resource as `object`, for WITH. It comes first: see the order of locks in `list/plan/page-of-facet.ts`. */
export function objectTable(metadata: EntityMetadata): string {
  return `object AS NOT MATERIALIZED (SELECT * FROM ${tableOf(metadata)})`;
}

/** Which objects of a list a page shows, and how. */
export interface PageRequest {
  readonly fields?: readonly string[];
  /** The total order of the list, or of objects of the same relevance. */
  readonly order: readonly OrderKey[];
  readonly isByRelevance: boolean;
  readonly limit: number;
  readonly offset: number;
  /** The identifier of the object behind which the page begins. The offset is then 0. */
  readonly after?: string;
  /** What the client sees. */
  readonly seen: Pick<VisibleListing, 'scope' | 'client'>;
}

/** A page to be read, of any list. */
export interface PageToRead {
  readonly matching: MatchingObjects;
  readonly request: PageRequest;
  /** Whose version the page has. */
  readonly resources: readonly string[];
  /** What is known of the list at the offset of the page. */
  readonly known?: KnownList | undefined;
  /** Whether as many lists of the resource are prepared as may be: the page is planned for its values. */
  readonly isForValues?: boolean;
}

/**
 * The text of the statement for a page. `numbered` has the keys of its objects with their places, and `page` those of the
 * page, if others ahead of it are picked, too.
 *
 * @param tables its common table expressions, up to `picked` and `counted`
 * @param ahead how many of the picked objects are behind the page
 * @param resources whose version its row has
 */
export function pageText(
  tables: readonly string[],
  { metadata, visible, values }: Picking,
  request: PageRequest,
  ahead: number,
  resources: readonly string[],
): string {
  const { order, isByRelevance, limit, after } = request;
  const { databaseName: identifier } = identifierOf(metadata);
  const keys = order.map(({ column }) => `"${column.databaseName}"::text`).join(', ');
  const first = isByRelevance ? 'picked."#list"' : undefined;
  const all = [
    ...tables,
    `numbered AS MATERIALIZED (
      SELECT *, row_number() OVER (${orderBy(order, 'picked', first)}) AS "#at" FROM picked
    )`,
  ];
  let [page, isAhead] = ['numbered', 'false'];
  if (ahead > 0) {
    const shown = `${values.add(limit)}::bigint`;
    [page, isAhead] = ['page', `"#at" > ${shown}`];
    all.push(`page AS (SELECT * FROM numbered WHERE "#at" <= ${shown})`);
  }
  return `WITH ${all.join(',\n')}
    SELECT ${pageObjects(metadata, page, request, visible, values)} AS objects,
      (SELECT total::text FROM counted) AS count,
      (SELECT json_build_array(${keys}) FROM numbered ORDER BY "#at" DESC LIMIT 1) AS key,
      (SELECT json_agg("${identifier}"::text ORDER BY "#at") FROM numbered WHERE ${isAhead}) AS ahead,
      (SELECT "${identifier}"::text FROM ${page} ORDER BY "#at" DESC LIMIT 1) AS last,
      (SELECT count(*) FROM ${page})::text AS rows,
      ${after === undefined ? 'true' : 'EXISTS (SELECT FROM anchor)'}::text AS begun,
      ${stateOf(resources, metadata)}`;
}

/** The objects of a table of identifiers with places, as JSON: an SQL expression. */
export function pageObjects(
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
       ${and(`WHERE object."${identifier}" = page."${identifier}"`, ...visible)} ${FENCE}
     ) object ORDER BY "#at"`,
  );
}

/**
 * SQL expressions for the state of resources, as three columns. `version` changes with every commit that
 * writes to one of them. `until` is the watermark: the data include every change before this time.
 * It is null until the first watermark is set, and for a list of an external table, whose changes have
 * no times. Such tables have no version: of these alone the state is always the same, and no response may show it.
 * `tally` is what the tally of the list counts, which a migration of another release may have changed: see `isInstalled`.
 *
 * @param resources the listed one first
 * @param counted the entity of the list, for a statement that may read its tally. Otherwise `tally` is null
 */
export function stateOf(resources: readonly string[], counted?: EntityMetadata): string {
  const versioned = resources.filter((resource) => hasOwnTable(resource));
  if (versioned.length === 0) return `'none' AS version, NULL AS until, NULL AS tally`;
  const names = versioned.map((name) => `'${name}'`).join(', ');
  const [listed = ''] = resources;
  const until = hasOwnTable(listed) ? '(SELECT current_watermark())' : 'NULL';
  const tally = counted && hasOwnTable(counted) ? `(SELECT installed_tally('${listed}'))` : 'NULL';
  return `(SELECT resource_version(ARRAY[${names}])::text) AS version, ${until} AS until, ${tally} AS tally`;
}
