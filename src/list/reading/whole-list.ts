import type { ReadPool } from '../../database/read-pool.js';
import { ParameterValues } from '../../database/statement.js';
import { errors } from '../../http/errors.js';
import { identifierOf, nameOf, tableOf } from '../../resource/resource.js';
import { selection } from '../../resource/selection.js';
import { keyOf } from './key-of.js';
import type { Listing } from '../listing/listing.js';
import { isByRelevance, orderBy, totalOrder } from '../listing/order.js';
import { type MatchingObjects, objectTable } from '../statement/matching-objects.js';
import { type ListStatements, openList } from './open-list.js';
import { and } from '../condition/print.js';
import { inBranches, NO_LIMIT } from '../statement/in-branches.js';
import { isBehind, anchorOf } from '../statement/picked-objects.js';
import { anchorByRelevance, behindByRelevance, isTitled } from '../plan/relevance.js';
import type { StreamFormat, WholeList } from './prepared-list.js';
import { rowWriter } from './row-writer.js';
import { visibleIn, visibleRelated } from '../listing/scope.js';
import { countByIndex, talliedCount } from '../statement/tallied-counts.js';
import { stateOf } from '../statement/state.js';

/** Prepares a whole list. It has no default limit. */
export function wholeList(
  reads: ReadPool,
  listing: Listing,
  matching: MatchingObjects,
  format: StreamFormat,
): WholeList {
  const { repository, query, fields, resources, scope, client } = listing;
  const { metadata } = repository;
  const { sort, limit, offset = 0, after } = query;
  const order = totalOrder(metadata, sort);
  const writer = rowWriter(format, metadata, fields);
  const rows = new ParameterValues(matching.values);
  const visible = after === undefined ? [] : visibleIn(metadata, scope, rows);
  const picking = { metadata, visible, order, values: rows };
  const search = isByRelevance(sort) ? matching.search : undefined;
  let [anchor, where] = ['', matching.where];
  if (after !== undefined) {
    anchor = `WITH ${search ? anchorByRelevance(search, picking, after) : anchorOf(picking, after)}`;
    const isAfter = search ? behindByRelevance(search, picking) : isBehind(order);
    where = and(where, isAfter);
  }
  const shown = selection(metadata, fields, visibleRelated(client, rows));
  const select = (ordering: string, ...branch: readonly string[]): string =>
    `SELECT ${shown} FROM ${tableOf(metadata)} object ${and(where, ...branch)} ${ordering}`;
  const section = {
    limit: limit === undefined ? NO_LIMIT : rows.addTyped(limit, 'bigint'),
    offset: rows.addTyped(offset, 'bigint'),
  };
  const objects = writer.select(
    `${anchor} ${
      search
        ? `${select(orderBy(order, 'object', `${isTitled(search, rows)} IS NOT TRUE`))}
           LIMIT ${section.limit} OFFSET ${section.offset}`
        : inBranches(picking, section, select)
    }`,
  );
  const statements: ListStatements = {
    objects: [objects, rows.values],
    summary: summaryOf(listing, matching),
    resources,
    ...(after === undefined ? {} : { after: objectExists(listing, after) }),
  };
  return {
    key: keyOf(format, ...statements.objects),
    open: (signal) => reads.read((pool) => openList(pool, statements, writer, signal)),
  };
}

/** Selects a row if the client of a list sees the object with an identifier. */
function objectExists(
  { repository: { metadata }, scope }: Listing,
  identifier: string,
): NonNullable<ListStatements['after']> {
  const values = new ParameterValues([identifier]);
  const where = and(
    `WHERE object."${identifierOf(metadata).databaseName}" = $1`,
    ...visibleIn(metadata, scope, values),
  );
  return {
    statement: [`SELECT FROM ${tableOf(metadata)} object ${where}`, values.values],
    error: errors.objectUnknown(nameOf(metadata), identifier),
  };
}

/** Selects the count of all matching objects, and the state of the data. */
function summaryOf(
  { repository: { metadata }, resources }: Listing,
  matching: MatchingObjects,
): ListStatements['summary'] {
  // A statement must refer to every parameter: those of the conditions only if it reads the objects.
  let values = new ParameterValues();
  let counted = talliedCount({ ...matching, values });
  if (!counted) {
    values = new ParameterValues(matching.values);
    counted = countByIndex({ ...matching, values });
  }
  const tables = [objectTable(metadata), ...counted.tables].join(',\n');
  const text = `WITH ${tables} SELECT ${counted.total}::text, ${stateOf(resources)}`;
  return [text, values.values];
}
