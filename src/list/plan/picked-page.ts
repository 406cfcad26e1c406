import { ParameterValues, statement } from '../../database/statement.js';
import { visibleIn } from '../listing/scope.js';
import { type MatchingObjects, objectTable } from '../statement/matching-objects.js';
import { pageText } from '../statement/page-text.js';
import type { Picking } from '../statement/picked-objects.js';
import { plannedOnce } from '../statement/planned-once.js';
import { countByWord } from '../statement/tallied-counts.js';
import { talliedList, type TalliedList } from '../statement/tallied-list.js';
import type { PageToRead } from '../statement/page-request.js';
import type { CountWay, PageStatement } from './page-plan.js';

/** What a plan adds to the statement for a page. */
interface Picked {
  /** Common table expressions, up to `counted` and `picked`. */
  readonly tables: readonly string[];
  readonly count: CountWay;
}

/** How PostgreSQL may keep a statement. Default: it plans it for its values each time. */
interface Keeping {
  /** Whether one plan may serve all values, if the conditions allow it. */
  readonly mayBePlannedOnce?: boolean;
  /** Whether each connection prepares it, since it is frequent and has few variants. */
  readonly prepared?: boolean;
}

/**
 * The statement for a page. It finds the keys of the page first, from an index alone if that carries the columns of the
 * conditions, and reads only these objects. Its common table expressions are `object`, the table of the resource, those
 * that the plan picks by, and those of `pageText`.
 *
 * @param pick gets the objects of the page, with the conditions that one plan serves where it may be planned once
 * @param ahead how many objects behind the page are looked up
 */
export function pickedPage(
  page: PageToRead,
  { mayBePlannedOnce = false, prepared = false }: Keeping,
  pick: (picking: Picking, matching: MatchingObjects) => Picked,
  ahead = 0,
): PageStatement {
  const { metadata, request, resources } = page;
  const planned = mayBePlannedOnce ? plannedOnce(page) : undefined;
  const matching = planned ?? page.matching;
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
  const { tables, count } = pick(picking, matching);
  const text = pageText(
    [objectTable(metadata), ...(matching.indexChoice?.tables ?? []), ...tables],
    picking,
    request,
    ahead,
    resources,
  );
  return { statement: statement(text, { prepared }), values: values.values, count, isPlannedOnce };
}

/** What the tally knows of a page. */
export function talliedPage(
  { matching, metadata, request, known }: PageToRead,
  offset: string | undefined,
  values: ParameterValues,
): TalliedList {
  const { order } = request;
  return talliedList(matching, {
    metadata,
    order,
    offset,
    hasKnownCount: known !== undefined,
    values,
  });
}

/** The table `counted`: the number of matching objects, by the tally, an earlier page, or an index. */
export function countedTable(
  { known }: PageToRead,
  matching: MatchingObjects,
  { metadata, values }: Picking,
  { count, countUnlessRead }: TalliedList,
): Picked {
  if (count !== undefined) return { tables: [counted(count)], count: 'tally' };
  if (known) {
    return { tables: [counted(`${values.add(known.count)}::bigint`)], count: 'remembered' };
  }
  const byIndex = `(SELECT count(*) FROM object ${matching.where})`;
  const tally = countUnlessRead ?? countByWord(metadata, matching, false, values);
  return tally === undefined
    ? { tables: [counted(byIndex)], count: 'index' }
    : { tables: [counted(`coalesce(${tally}, ${byIndex})`)], count: 'tally' };
}

/** @param total an SQL expression */
function counted(total: string): string {
  return `counted AS MATERIALIZED (SELECT ${total} AS total)`;
}

function sqlNumber(value: number, values: ParameterValues): string {
  return `(${values.addTyped(value, 'bigint')})`;
}

/** The offset of a page as a parameter; `undefined` for the first page. */
export function sqlOffset({ request }: PageToRead, values: ParameterValues): string | undefined {
  return request.offset > 0 ? sqlNumber(request.offset, values) : undefined;
}
