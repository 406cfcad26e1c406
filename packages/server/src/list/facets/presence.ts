import type { ParameterValues } from '../../database/statement.js';
import { columnOf } from '../../resource/resource.js';
import { presence } from '../condition/filters.js';
import { sqlOf, whereOf } from '../condition/print.js';
import { talliedBy } from '../statement/tallied-counts.js';
import type { VisibleListing } from '../visibility/visible-listing.js';
import { conditionsBeside } from './conditions-beside.js';

/**
 * A query of the presence of a column: `value`, `true` for a value or an item of an array, and `false`, with `count`. The
 * filters on the column do not count.
 */
export function presenceOf(list: VisibleListing, name: string, values: ParameterValues): string {
  const { metadata } = list.repository;
  const column = columnOf(metadata, name);
  const others = conditionsBeside(list, name);
  const [every, none] = [others, [...others, presence(column, false)]].map(
    (conditions) => talliedBy(metadata, conditions).tallied,
  );
  if (every?.isSure && none?.isSure) {
    // What the tally knows of both is the sum of facets: it needs neither tables nor the conditions.
    const [all, without] = [every, none].map((count) => count.sql({ where: '', values }).total);
    return `SELECT value, count FROM (SELECT ${all} AS every, ${without} AS none OFFSET 0) counts
      CROSS JOIN LATERAL (VALUES ('true', every - none), ('false', none)) presence(value, count)`;
  }
  const context = { metadata, values };
  return `SELECT (${sqlOf(presence(column, true), context)})::text AS value, count(*) AS count
    FROM object ${whereOf(others, context)} GROUP BY 1`;
}
