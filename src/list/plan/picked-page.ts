import { ParameterValues } from '../../database/statement.js';
import { visibleIn } from '../listing/scope.js';
import { objectTable } from '../statement/matching-objects.js';
import type { PageToRead } from '../statement/page-request.js';
import { pageText } from '../statement/page-text.js';
import type { Picking } from '../statement/picked-objects.js';
import { plannedOnce } from '../statement/planned-once.js';
import type { Keep } from '../statement/prepared-statements.js';
import { countByWord } from '../statement/tallied-counts.js';
import { talliedList, type TalliedList } from '../statement/tallied-list.js';
import type { CountWay, PageStatement } from './page-plan.js';

/** What a plan adds to the statement for a page. */
interface Picked {
  /** Common table expressions, up to `counted` and `picked`. */
  readonly tables: readonly string[];
  readonly count: CountWay;
}

/**
 * The statement for a page. It finds the keys of the page first, from an index alone if that carries the columns of the
 * conditions, and reads only these objects. Its common table expressions are `object`, the table of the resource, those
 * that the plan picks by, and those of `pageText`.
 *
 * @param keep `if frequent`: only if one plan serves all values; see `plannedOnce`
 * @param pick picks the objects of the page
 * @param ahead how many objects behind the page are looked up
 */
export function pickedPage(
  page: PageToRead,
  keep: Keep,
  pick: (picking: Picking) => Picked,
  ahead = 0,
): PageStatement {
  const { request, resources } = page;
  const planned = keep === 'if frequent' ? plannedOnce(page) : undefined;
  const matching = planned ?? page.matching;
  const isPlannedOnce = planned !== undefined || keep === 'always';
  const values = new ParameterValues(matching.values, isPlannedOnce);
  const picking: Picking = {
    ...matching,
    values,
    visible: visibleIn(matching.metadata, request.seen.scope, values),
    order: request.order,
    limit: sqlNumber(request.limit + ahead, values),
  };
  const { tables, count } = pick(picking);
  const text = pageText(
    [objectTable(matching.metadata), ...(matching.indexChoice?.tables ?? []), ...tables],
    picking,
    request,
    ahead,
    resources,
  );
  return { text, values: values.values, count, keep: isPlannedOnce ? keep : 'never' };
}

/** What the tally knows of a page. */
export function talliedPage(
  { matching, request: { order }, known }: PageToRead,
  offset: string | undefined,
  values: ParameterValues,
): TalliedList {
  return talliedList(matching, { order, offset, hasKnownCount: known !== undefined, values });
}

/**
 * The tables of a page, with `counted`: the number of matching objects, by the tally, an earlier page, or an index.
 *
 * @param picked the tables that refer to it
 */
export function counted(
  { known }: PageToRead,
  picking: Picking,
  { tables, count, countUnlessRead }: TalliedList,
  picked: readonly string[],
): Picked {
  const by = (total: string, way: CountWay): Picked => ({
    tables: [...tables, `counted AS MATERIALIZED (SELECT ${total} AS total)`, ...picked],
    count: way,
  });
  if (count !== undefined) return by(count, 'tally');
  if (known) return by(`${picking.values.add(known.count)}::bigint`, 'remembered');
  const byIndex = `(SELECT count(*) FROM object ${picking.where})`;
  const tally = countUnlessRead ?? countByWord(picking, false);
  return tally === undefined ? by(byIndex, 'index') : by(`coalesce(${tally}, ${byIndex})`, 'tally');
}

function sqlNumber(value: number, values: ParameterValues): string {
  return `(${values.addTyped(value, 'bigint')})`;
}

/** The offset of a page as a parameter; `undefined` for the first page. */
export function sqlOffset({ request }: PageToRead, values: ParameterValues): string | undefined {
  return request.offset > 0 ? sqlNumber(request.offset, values) : undefined;
}
