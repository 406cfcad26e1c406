import type { EntityMetadata } from 'typeorm';
import { FENCE } from '../../database/planner.js';
import type { ParameterValues } from '../../database/statement.js';
import { hasOwnTable, identifierOf, tableOf } from '../../resource/resource.js';
import { jsonArray, selection } from '../../resource/selection.js';
import { and } from '../condition/print.js';
import { orderBy, type OrderKey } from '../listing/order.js';
import { type VisibleListing, visibleRelated } from '../visibility/visible-listing.js';
import type { KnownList } from './known-lists.js';
import type { MatchingObjects } from './matching-objects.js';
import type { Picking } from './picked-objects.js';

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
