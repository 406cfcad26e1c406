import { ParameterValues } from '../../database/statement.js';
import { sqlEach } from '../condition/print.js';
import { objectTable } from '../statement/matching-objects.js';
import type { PageToRead } from '../statement/page-request.js';
import { pageText } from '../statement/page-text.js';
import type { Picking } from '../statement/picked-objects.js';
import { plannedOnce } from '../statement/planned-once.js';
import type { Preparing } from '../statement/prepared-statements.js';
import type { PageStatement } from './plan.js';

/**
 * The statement for a page. It finds the keys of the page first, from an index alone if that carries the columns of the
 * conditions, and reads only these objects. Its common table expressions are `object`, the table of the resource, those
 * that the plan picks by, and those of `pageText`.
 *
 * @param prepare `if frequent`: only if one plan serves all values; see `plannedOnce`
 * @param count the plan whose tables `pick` gives
 * @param pick gives the common table expressions up to `counted` and `picked`
 * @param ahead how many objects behind the page are looked up
 */
export function pickedPage(
  page: PageToRead,
  prepare: Preparing,
  { name, unfit }: PageStatement['count'],
  pick: (picking: Picking) => readonly string[],
  ahead = 0,
): PageStatement {
  const { request, resources } = page;
  const planned = prepare === 'if frequent' ? plannedOnce(page) : undefined;
  const matching = planned ?? page.matching;
  const isPlannedOnce = planned !== undefined || prepare === 'always';
  const values = new ParameterValues(matching.values, isPlannedOnce);
  const picking: Picking = {
    ...matching,
    values,
    visible: sqlEach(request.seen.scope, { metadata: matching.metadata, values }),
    order: request.order,
    limit: sqlNumber(request.limit + ahead, values),
  };
  const tables = [objectTable(matching.metadata), ...pick(picking)];
  return {
    text: pageText(tables, picking, request, ahead, resources),
    values: values.values,
    count: { name, unfit },
    prepare: isPlannedOnce ? prepare : 'never',
  };
}

function sqlNumber(value: number, values: ParameterValues): string {
  return `(${values.addTyped(value, 'bigint')})`;
}

/** The offset of a page as a parameter; `undefined` for the first page. */
export function sqlOffset({ request }: PageToRead, values: ParameterValues): string | undefined {
  return request.offset > 0 ? sqlNumber(request.offset, values) : undefined;
}
