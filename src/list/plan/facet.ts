import type { EntityMetadata } from 'typeorm';
import type { Statement } from '../../database/statement.js';
import { capabilitiesOf } from '../../resource/capabilities.js';
import { carriedColumnsOf } from '../../resource/carried-columns.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { identifierType } from '../../resource/identifiers.js';
import {
  columnOf,
  identifierOf,
  isBroad,
  singleCountedColumnsOf,
} from '../../resource/resource.js';
import { jsonArray, selection } from '../../resource/selection.js';
import type { Listing } from '../listing/listing.js';
import { objectTable, type Selected } from '../statement/matching-objects.js';
import type { PageRequest } from '../statement/page-request.js';
import { stateOf } from '../statement/state.js';
import type { StatementCache } from '../statement/statement-cache.js';
import { type Facet, facetName } from '../tally/facet.js';
import { countOf, identifierOrder, tallyRows } from '../tally/tally.js';
import type { PlanTaken } from './page-plan.js';

/** A list that is one facet is read by this plan, before any of `PLANS` is tried. */
export const FACET: PlanTaken = { name: 'facet', count: 'tally' };

/** What the plan of a facet decides by. */
interface FacetList {
  readonly metadata: EntityMetadata;
  readonly selected: Selected;
  readonly request: PageRequest;
  readonly scopedRelated: readonly unknown[];
  readonly listing: Pick<Listing, 'resources'>;
}

/** The statement for a page of a facet, and its parameter values. */
export interface FacetPage {
  readonly statement: Statement;
  readonly values: unknown[];
}

/** Why a list is not read as one facet in the order of the identifier; `undefined` if it is. */
export function facetUnfit(list: FacetList): string | undefined {
  const { metadata, selected, request, scopedRelated } = list;
  const [first, ...others] = request.order;
  if (request.after !== undefined) return 'it goes on behind an object';
  // The statement is prepared. That of each client would differ.
  if (scopedRelated.length > 0) return 'each client sees other related objects';
  if (!capabilitiesOf(metadata).places) return 'the tally has no ranges of it';
  if (others.length > 0 || first?.direction !== 'ASC') return 'it has another order';
  return selected.facets?.length === 1 ? undefined : 'its conditions are not one facet';
}

/** The page of a list that is one facet, ordered by identifier; `undefined` for any other list. */
export function facetPage(statements: StatementCache, list: FacetList): FacetPage | undefined {
  const { metadata, selected, request, listing } = list;
  const [facet] = selected.facets ?? [];
  if (!facet || facetUnfit(list) !== undefined) return undefined;
  return pageOfFacet(statements, metadata, facet, request, listing.resources);
}

/**
 * The statement for a page of a facet, ordered by identifier, and its parameter values. It takes the
 * count from the tally. It also finds the range of the offset there, and skips only within the range.
 *
 * @param resources whose version the page has; they follow from the fields
 */
export function pageOfFacet(
  statements: StatementCache,
  metadata: EntityMetadata,
  facet: Facet,
  { fields, limit, offset }: Pick<PageRequest, 'fields' | 'limit' | 'offset'>,
  resources: readonly string[],
): FacetPage {
  const fromStart = offset === 0;
  const leaders = leadersOf(metadata, facet.columns);
  const statement = statements.get(
    metadata,
    `${fromStart ? 'first page' : 'page'} ${facet.columns.join()}`,
    fields,
    () => pageText(metadata, facet.columns, leaders, fields, fromStart, resources),
  );
  const values = [facetName(facet), limit, ...(fromStart ? [] : [offset]), ...facet.values];
  if (leaders.length > 1) {
    const valueOf = (name: string): string => facet.values[facet.columns.indexOf(name)] ?? '';
    values.push(...leaders.map((name) => facetName({ columns: [name], values: [valueOf(name)] })));
  }
  return { statement, values };
}

/**
 * The columns of a facet of which the rarest value, at the time of the query, leads: its index is read. A
 * value of few, such as a type, is hardly the rarest one.
 */
function leadersOf(metadata: EntityMetadata, columns: readonly string[]): readonly string[] {
  const counted = singleCountedColumnsOf(metadata);
  const found = columns.filter((name) => {
    const carried = carriedColumnsOf(metadata, name);
    return (
      counted.includes(name) &&
      !isBroad(metadata, name) &&
      columns.every((each) => carried.includes(columnOf(metadata, each).databaseName))
    );
  });
  return found.length > 0 ? found : columns.slice(0, 1);
}

/**
 * Each value stands in a subquery, so that the planner does not use it: the generic plan is then as
 * good as a custom plan, and PostgreSQL plans the statement once.
 */
function pageText(
  metadata: EntityMetadata,
  columns: readonly string[],
  leaders: readonly string[],
  fields: readonly string[] | undefined,
  fromStart: boolean,
  resources: readonly string[],
): string {
  const { databaseName, type } = identifierOf(metadata);
  const key = `object."${databaseName}"`;
  const lowest = fromStart
    ? `(SELECT ${identifierType(type).bounds.minimum})`
    : '(SELECT lowest FROM position)';
  const firstValue = fromStart ? 3 : 4;
  const rarestTable = rarestText(metadata, leaders, firstValue + columns.length);
  const ways = waysOf(metadata, columns, leaders, firstValue);
  const select = (columnList: string, start: string, limit: string): string =>
    ways
      .map(
        ({ from, order }) =>
          `(SELECT ${columnList} FROM object WHERE ${from(start)} ORDER BY ${order} LIMIT ${limit})`,
      )
      .join(' UNION ALL ');
  // The objects that are skipped need only the key, so an index-only scan reads them.
  const keyAt = (offset: string, start: string): string =>
    `(${select(key, start, `1 OFFSET ${offset}`)})`;
  const first = fromStart ? lowest : '(SELECT id FROM first)';
  const limit = '(SELECT $2::bigint)';
  // None of them is restricted to a client: see `facetUnfit`.
  const fieldsOf = selection(metadata, fields, () => []);
  // The objects of a combination are not adjacent in an index. It is read for their identifiers alone,
  // so that no other object is visited.
  const isPicked = columns.length > 1;
  const objects = isPicked
    ? `SELECT ${fieldsOf} FROM picked CROSS JOIN LATERAL (
         SELECT * FROM "${metadata.tableName}" object WHERE ${key} = picked.id OFFSET 0
       ) object ORDER BY picked.id`
    : select(fieldsOf, first, limit);
  const last = isPicked
    ? '(SELECT id FROM picked ORDER BY id DESC LIMIT 1)'
    : keyAt('(SELECT greatest($2::bigint - 1, 0))', first);
  // Lock order: table before tally, as TRUNCATE takes them; otherwise they deadlock.
  const tables = [
    objectTable(metadata),
    ...(rarestTable ? [rarestTable] : []),
    `position AS MATERIALIZED (${fromStart ? startText(metadata) : positionText(metadata)})`,
    ...(fromStart
      ? []
      : [
          `first AS MATERIALIZED (SELECT ${keyAt('(SELECT skipped FROM position)', lowest)} AS id)`,
        ]),
    ...(isPicked ? [`picked AS MATERIALIZED (${select(`${key} AS id`, first, limit)})`] : []),
  ];
  // Texts of one collation: the type of a prepared result must not change with that of the identifier.
  return `WITH ${tables.join(',\n')}
    SELECT position.total AS count, ${stateOf(resources)}, page.objects,
      ${last}::text COLLATE "C" AS last,
      greatest(least($2::bigint, position.total::bigint - ${fromStart ? '0' : '$3::bigint'}), 0)::text AS rows
    FROM position CROSS JOIN LATERAL (SELECT ${jsonArray(objects)} AS objects) page`;
}

/**
 * The ways by the index of each leading column; by the primary key without one. The upper bound, which no
 * identifier is above, keeps the row estimate small. Without it, the planner expects a third of the
 * table and uses JIT compilation for a few rows.
 *
 * @param firstValue the number of the parameter with the value of the first column
 */
function waysOf(
  metadata: EntityMetadata,
  columns: readonly string[],
  leaders: readonly string[],
  firstValue: number,
): Way[] {
  const { databaseName, type } = identifierOf(metadata);
  const key = `object."${databaseName}"`;
  const above = `(SELECT ${identifierType(type).bounds.maximum})`;
  const compared = columns.map((name, at) => ({
    name,
    reference: `object."${name}"`,
    value: `(SELECT $${firstValue + at}::${sqlTypeOf(columnOf(metadata, name))})`,
  }));
  const way = (name?: string): Way => {
    const leading = compared.find((each) => each.name === name);
    if (!leading) {
      return { from: (first) => `${key} >= ${first} AND ${key} <= ${above}`, order: key };
    }
    const { reference, value } = leading;
    const order = `${reference}, ${key}`;
    // Unlike an equality, no index of another column qualifies for it: all objects with its value could be
    // read and sorted.
    const rest = compared
      .filter((each) => each !== leading)
      .map((other) => ` AND ${other.reference} IS NOT DISTINCT FROM ${other.value}`);
    const isLeading =
      leaders.length > 1 ? `(SELECT name FROM rarest) = '${leading.name}' AND ` : '';
    // Row comparison, so that only the index of the leading column qualifies. For a rare value the
    // planner could otherwise scan the whole primary key.
    return {
      from: (first) =>
        `${isLeading}(${order}) >= (${value}, ${first}) AND (${order}) <= (${value}, ${above})${rest.join('')}`,
      order,
    };
  };
  return leaders.length === 0 ? [way()] : leaders.map(way);
}

/** How objects are read, as SQL: the conditions for those from an identifier on, and their order. */
interface Way {
  readonly from: (first: string) => string;
  readonly order: string;
}

/** The table with the name of the leading column; `undefined` if there is no choice. */
function rarestText(
  metadata: EntityMetadata,
  leaders: readonly string[],
  firstName: number,
): string | undefined {
  if (leaders.length < 2) return undefined;
  const counts = leaders.map((name, at) => {
    const count = countOf(identifierOrder(metadata), `ARRAY[$${firstName + at}::text]`);
    return `('${name}', ${count})`;
  });
  return `rarest AS MATERIALIZED (
    SELECT name FROM (VALUES ${counts.join(', ')}) AS leaders(name, count) ORDER BY count LIMIT 1
  )`;
}

function startText(metadata: EntityMetadata): string {
  return `SELECT ${countOf(identifierOrder(metadata), 'ARRAY[$1::text]')}::text AS total`;
}

/** Selects the range that contains the offset, the rows to skip within it, and the total. */
function positionText(metadata: EntityMetadata): string {
  // PostgreSQL has no minimum of UUIDs. Their texts have the same order.
  const first =
    identifierOf(metadata).type === 'uuid'
      ? '(min(lowest::text COLLATE "C") FILTER (WHERE upto > $3))::uuid'
      : 'min(lowest) FILTER (WHERE upto > $3)';
  return `SELECT
      ${first} AS lowest,
      $3 - coalesce(max(upto) FILTER (WHERE upto <= $3), 0) AS skipped,
      coalesce(max(upto), 0)::text AS total
    FROM (
      SELECT lowest, sum(count) OVER (ORDER BY lowest) AS upto
      FROM ${tallyRows(identifierOrder(metadata), 'WHERE facet = $1')}
    ) ranges`;
}
