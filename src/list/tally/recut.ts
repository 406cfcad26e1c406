import type { EntityManager, EntityMetadata } from 'typeorm';
import { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { tableOf } from '../../resource/resource.js';
import { facetOf } from './facet.js';
import { isInStretch, type Stretch } from './stretch.js';
import type { TallyOrder } from './tally.js';

/**
 * Replaces the ranges of a stretch. The caller holds the lock.
 *
 * @param objects how many it may read, or two ranges if those are more
 * @returns how many it has read
 */
export async function recut(
  manager: EntityManager,
  metadata: EntityMetadata,
  order: TallyOrder,
  stretch: Stretch,
  objects: number,
): Promise<number> {
  const { tally, deltas, rangeKey, identifier, column } = order;
  const removal = new ParameterValues();
  const removed = `facet = ${removal.add(stretch.facet)} AND ${isInStretch(order, stretch, removal, 'value', 'lowest')}`;
  const [{ total }] = await manager.query<[{ total: string }]>(
    `WITH deleted AS (
       DELETE FROM ${tally} WHERE ${removed} RETURNING count
     ), deleted_deltas AS (
       DELETE FROM ${deltas} WHERE ${removed} RETURNING count
     )
     SELECT coalesce(sum(count), 0)::text AS total
     FROM (SELECT count FROM deleted UNION ALL SELECT count FROM deleted_deltas) every`,
    removal.values,
  );
  const { facet: name, from, size } = stretch;
  const facet = facetOf(name);
  const pieces = Math.max(2, Math.floor(objects / size));
  const maximum = pieces * size;
  const lowest = `object."${identifier.databaseName}"`;
  const value = column && `object."${column.databaseName}"`;
  const values = new ParameterValues();
  const conditions = [
    isInStretch(order, stretch, values, value ?? '', lowest),
    ...(value === undefined ? [] : [`${value} IS NOT NULL`]),
    ...facet.columns.map((each, at) => `object."${each}" = ${values.add(facet.values[at])}`),
  ];
  // The first range keeps its name. The objects beyond the maximum become one range with the last that was read, to be
  // cut next.
  const firstKey = [
    ...(column ? [`${values.add(from.value)}::${sqlTypeOf(column)}`] : []),
    `${values.add(from.lowest)}::${sqlTypeOf(identifier)}`,
  ];
  const named = rangeKey
    .split(', ')
    .map((name, at) => `CASE at WHEN 0 THEN ${firstKey[at]} ELSE ${name} END`);
  await manager.query(
    `INSERT INTO ${tally} (facet, ${rangeKey}, count)
     SELECT ${values.add(name)}, ${named.join(', ')}, coalesce(lead(at) OVER (ORDER BY at), ${total}) - at
     FROM (
       SELECT *, row_number() OVER (ORDER BY ${rangeKey}) - 1 AS at FROM (
         SELECT ${value === undefined ? '' : `${value} AS value, `}${lowest} AS lowest
         FROM ${tableOf(metadata)} object
         WHERE ${conditions.join(' AND ')}
         ORDER BY ${rangeKey} LIMIT ${maximum + 1}
       ) first
     ) numbered
     WHERE at % ${size} = 0`,
    values.values,
  );
  return Math.min(Number(total), maximum);
}
