import type { EntityMetadata, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { type Statement, statement } from '../database/statement.js';
import { identifierOf } from '../resource/resource.js';
import { jsonArray, selection } from '../resource/selection.js';
import type { SortKey } from './list-query.dto.js';
import type { Listing } from './listing.js';
import { type Facet, facetName } from './tally/facet.js';
import { countOf } from './tally/tally.js';
import { stateOf } from './versions.js';

/** The query for all matching objects in order, and the query that counts them. */
export interface MatchingObjects {
  readonly query: string;
  /** The parameter values of both queries. */
  readonly values: readonly unknown[];
  readonly counting: string;
  /** The facet that consists of these objects; `undefined` if the tally has no such facet. */
  readonly facet: Facet | 'all' | undefined;
}

/**
 * Builds the queries of a list. Both use the alias `object` for the table.
 *
 * @param facet the one that consists of the matching objects
 */
export function matchingObjects(
  { repository, conditions, query }: Listing,
  facet: MatchingObjects['facet'],
): MatchingObjects {
  const { metadata } = repository;
  const builder = repository.createQueryBuilder('object');
  for (const condition of conditions) builder.andWhere(condition);
  const [counting] = builder.clone().select('count(*)::text').getQueryAndParameters();
  builder.select(selection(metadata, query.fields));
  order(builder, metadata, query.sort ?? []);
  const [text, values] = builder.getQueryAndParameters() as [string, unknown[]];
  return { query: text, values, counting, facet };
}

/** Whether a list is ordered by ascending identifier, the only order in which the tally finds offsets. */
export function isByIdentifier(metadata: EntityMetadata, [first]: readonly SortKey[]): boolean {
  // The identifier is unique, so later fields do not change the order.
  return (
    !first || (first.field === identifierOf(metadata).propertyName && first.direction === 'ASC')
  );
}

/** The statement for a page, with OFFSET, and its parameter values. Its cost grows with the offset. */
export function offsetPage(
  metadata: EntityMetadata,
  { query, values, counting, facet }: MatchingObjects,
  { limit, offset }: { limit: number; offset: number },
  resource: string,
): [Statement, unknown[]] {
  const [limitAt, offsetAt, facetAt] = [1, 2, 3].map((more) => `$${values.length + more}`);
  const objects = jsonArray(`${query} LIMIT ${limitAt} OFFSET ${offsetAt}`);
  const count = facet ? countOf(metadata, facetAt ?? '') : `(${counting})`;
  const text = `SELECT ${objects} AS objects, ${count} AS count, ${stateOf(resource)}`;
  // Not prepared: there are too many variants, and the best plan depends on the values.
  return [
    statement(text, { prepared: false }),
    [...values, limit, offset, ...(facet ? [facetName(facet)] : [])],
  ];
}

/** Adds ORDER BY. The identifier comes last, so that the order is total. */
function order(
  builder: SelectQueryBuilder<ObjectLiteral>,
  metadata: EntityMetadata,
  sort: readonly SortKey[],
): void {
  const { propertyName: identifier } = identifierOf(metadata);
  for (const { field, direction } of sort) builder.addOrderBy(`object.${field}`, direction);
  if (!sort.some(({ field }) => field === identifier)) builder.addOrderBy(`object.${identifier}`);
}
