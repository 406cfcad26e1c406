import type { EntityMetadata } from 'typeorm';
import { FENCE } from '../../database/planner.js';
import type { ParameterValues } from '../../database/statement.js';
import { identifierOf, tableOf } from '../../resource/resource.js';
import { jsonArray, selection } from '../../resource/selection.js';
import { orderBy } from '../listing/order.js';
import { visibleRelated } from '../visibility/visible-rows.js';
import { and } from '../condition/print.js';
import type { PageRequest } from './page-request.js';
import type { Picking } from './picked-objects.js';
import { stateOf } from './state.js';

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
