import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { namesOf } from '../tally/facet.js';
import { identifierType } from '../resource/identifiers.js';
import { nameOf, tableOf } from '../resource/resource.js';
import { facetColumnsOf, type TallyOrder, tallyOrders, tallyRows } from '../tally/tally.js';
import {
  itemSums,
  type ItemTally,
  itemTallies,
  wordSums,
  wordTallies,
} from '../tally/word-tally.js';
import { countsAsDeclared, tally as tallyPart } from '../schema/parts/tally.js';

/** Maximum number of reported ranges, or words, per resource and tally. */
const MAXIMUM_REPORTED = 20;

/**
 * The ranges and words whose tally differs from the table, as lines. Without any, all counts and offsets are right.
 * Empty if the resource has no tally of the columns of its entity, which `differences` reports.
 */
export async function miscounts(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<string[]> {
  const resource = nameOf(metadata);
  const installed = (await tallyPart.read(dataSource)).get(resource);
  if (!countsAsDeclared(metadata, installed)) return [];
  const found: string[] = [];
  const report = (by: ColumnMetadata | undefined, differences: readonly Difference[]): void => {
    const tally = by ? `the tally by ${by.propertyName}` : 'the tally';
    for (const { where, tallied, there } of differences) {
      found.push(`${tally} of ${resource} has ${tallied} for ${where}, where there are ${there}`);
    }
  };
  for (const order of tallyOrders(metadata)) {
    report(order.column, await dataSource.query(comparison(metadata, order)));
  }
  for (const words of wordTallies(metadata)) {
    const counted = `JOIN (SELECT word FROM ${words.words} WHERE is_counted) counted USING (word)`;
    const sums = wordSums(metadata, words, true);
    report(words.column, await wordDifferences(dataSource, words, sums, counted));
  }
  for (const items of itemTallies(metadata)) {
    report(items.column, await wordDifferences(dataSource, items, itemSums(metadata, items)));
  }
  return found;
}

interface Difference {
  /** The facet and the name of the range in it, or the word. */
  readonly where: string;
  readonly tallied: string;
  /** The number of objects in the table. */
  readonly there: string;
}

/** Selects the ranges where tally and table differ. One statement, so that it sees one snapshot. */
function comparison(metadata: EntityMetadata, order: TallyOrder): string {
  const { tally, rangeKey, column } = order;
  const { databaseName, type } = order.identifier;
  const identifier = `object."${databaseName}"`;
  const { minimum } = identifierType(type).bounds;
  const value = column && `object."${column.databaseName}"`;
  const facets = [[], ...facetColumnsOf(metadata, order)].map(facetExpression);
  const isBelow = value
    ? `(tally.value, tally.lowest) <= (${value}, ${identifier})`
    : `tally.lowest <= ${identifier}`;
  const from = `concat_ws(', ', ${column ? 'value, ' : ''}nullif(lowest, ${minimum}))`;
  return `SELECT coalesce(nullif(facet, ''), 'all') || ' from ' || coalesce(nullif(${from}, ''), 'the first') AS where,
      sum(tallied) AS tallied, sum(there) AS there
    FROM (
      SELECT facet, ${rangeKey}, count AS tallied, 0 AS there FROM ${tallyRows(order)}
      UNION ALL
      SELECT of.facet, ${value ? 'range.value, ' : ''}coalesce(range.lowest, ${minimum}), 0, 1
      FROM ${tableOf(metadata)} object
      CROSS JOIN LATERAL (VALUES ${facets.map((each) => `(${each})`).join(', ')}) of(facet)
      LEFT JOIN LATERAL (
        SELECT ${rangeKey} FROM ${tally} tally WHERE tally.facet = of.facet AND ${isBelow}
        ORDER BY ${value ? 'tally.value DESC NULLS LAST, ' : ''}tally.lowest DESC LIMIT 1
      ) range ON true
      WHERE of.facet IS NOT NULL${value ? ` AND ${value} IS NOT NULL` : ''}
    ) every
    GROUP BY facet, ${rangeKey} HAVING sum(tallied) <> sum(there)
    ORDER BY facet, ${rangeKey} LIMIT ${MAXIMUM_REPORTED}`;
}

/**
 * The words or items where tally and table differ. One statement compares them, in one snapshot.
 *
 * @param counted joins the words that are counted. Default: all are
 */
async function wordDifferences(
  dataSource: DataSource,
  { tally, deltas }: ItemTally,
  { text, values }: ReturnType<typeof wordSums>,
  counted = '',
): Promise<Difference[]> {
  const [{ sums }] = await dataSource.query<[{ sums: string }]>(text, [...values]);
  return dataSource.query(
    `SELECT concat_ws(' ', word, nullif(facet, '')) AS where, sum(tallied) AS tallied, sum(there) AS there
     FROM (
       SELECT "#word" AS word, facet, 0 AS tallied, total AS there FROM (${sums}) sums
       UNION ALL SELECT word, facet, count, 0 FROM ${tally} ${counted}
       UNION ALL SELECT word, facet, count, 0 FROM ${deltas} ${counted}
     ) every
     GROUP BY word, facet HAVING sum(tallied) <> sum(there)
     ORDER BY word, facet LIMIT ${MAXIMUM_REPORTED}`,
  );
}

/** The SQL expression of an object's facet, as in `install_tally`; null if a column has no value. */
function facetExpression(columns: readonly ColumnMetadata[]): string {
  if (columns.length === 0) return `''`;
  const values = columns.map(({ databaseName }, at) => {
    const text = `object."${databaseName}"::text`;
    return at < columns.length - 1 ? `length(${text}) || ':' || ${text}` : text;
  });
  return [`'${namesOf(columns)}='`, ...values].join(' || ');
}
