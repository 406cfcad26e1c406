import type { DataSource, EntityMetadata } from 'typeorm';
import { identifierType } from '../resource/formats.js';
import { identifierOf, nameOf } from '../resource/resource.js';
import { countsAsDeclared, tally as tallyPart } from '../schema/parts/tally.js';
import { everyOrder, tallyOf } from '../tally/described-tally.js';
import { recountOf, type Tally } from '../tally/tally.js';

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
  const installed = (await tallyPart.read(dataSource, [resource])).get(resource);
  if (!countsAsDeclared(metadata, installed)) return [];
  const { minimum } = identifierType(identifierOf(metadata).type).bounds;
  const found: string[] = [];
  for (const order of everyOrder(tallyOf(metadata))) {
    const name = order.kind === 'cells' ? 'the tally of cells' : 'the tally';
    const tally = order.column ? `${name} by ${order.column.propertyName}` : name;
    const [{ recount }] = await dataSource.query<[{ recount: string }]>(...recountOf(order));
    const text = comparison(order, recount, minimum);
    for (const { where, tallied, there } of await dataSource.query<Difference[]>(text)) {
      found.push(`${tally} of ${resource} has ${tallied} for ${where}, where there are ${there}`);
    }
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

/**
 * Selects the rows where tally and table differ. One statement, so that it sees one snapshot.
 *
 * @param recount see `recountOf`
 * @param minimum the least identifier in SQL, after which the first range is named
 */
function comparison(
  { kind, tally, deltas, key, words }: Tally & { readonly words?: string },
  recount: string,
  minimum: string,
): string {
  // Words that are not counted yet have deltas.
  const counted = words ? `WHERE word IN (SELECT word FROM ${words} WHERE is_counted)` : '';
  const from = `concat_ws(', ', ${kind === 'values' ? 'value, ' : ''}nullif(lowest, ${minimum}))`;
  const where = key.startsWith('word')
    ? `concat_ws(' ', coalesce(word, 'no item'), nullif(facet, ''))`
    : `coalesce(nullif(facet, ''), 'all') || ' from ' || coalesce(nullif(${from}, ''), 'the first')`;
  return `SELECT ${where} AS where, sum(tallied) AS tallied, sum(there) AS there
    FROM (
      SELECT ${key}, count AS tallied, 0 AS there FROM ${tally} ${counted}
      UNION ALL SELECT ${key}, count, 0 FROM ${deltas} ${counted}
      UNION ALL SELECT ${key}, 0, there FROM (${recount}) recount(${key}, there)
    ) every
    GROUP BY ${key} HAVING sum(tallied) <> sum(there)
    ORDER BY ${key} LIMIT ${MAXIMUM_REPORTED}`;
}
