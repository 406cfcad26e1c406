import { hash } from 'node:crypto';
import type { ReadPool } from '../database/read-pool.js';
import { ParameterValues } from '../database/statement.js';
import { selection } from '../resource/selection.js';
import type { Listing } from './listing.js';
import { type MatchingObjects, objectTable, orderBy, totalOrder } from './matching-objects.js';
import { type ListStatements, openList } from './open-list.js';
import type { StreamFormat, WholeList } from './prepared-list.js';
import { rowWriter } from './row-writer.js';
import { talliedList } from './tallied-list.js';
import { stateOf } from './versions.js';

/** Prepares a whole list. It has no default limit. */
export function wholeList(
  reads: ReadPool,
  listing: Listing,
  matching: MatchingObjects,
  format: StreamFormat,
): WholeList {
  const { repository, query, resource } = listing;
  const { metadata } = repository;
  const { fields, sort, limit, offset = 0 } = query;
  const order = totalOrder(metadata, sort);
  const writer = rowWriter(format, metadata, fields);
  const rows = new ParameterValues(matching.values);
  // LIMIT NULL means no limit.
  const objects = writer.select(
    `SELECT ${selection(metadata, fields)} FROM "${metadata.tableName}" object ${matching.where}
     ${orderBy(metadata, order)} LIMIT ${rows.add(limit ?? null)} OFFSET ${rows.add(offset)}`,
  );
  const statements: ListStatements = {
    objects: [objects, rows.values],
    summary: summaryOf(listing, matching),
    resource,
  };
  return {
    key: hash('sha256', JSON.stringify([format, ...statements.objects]), 'base64url'),
    open: (signal) => reads.read((pool) => openList(pool, statements, writer, signal)),
  };
}

/** Selects the count of all matching objects, and the state of the data. */
function summaryOf(
  { repository: { metadata }, resource }: Listing,
  matching: MatchingObjects,
): ListStatements['summary'] {
  const values = new ParameterValues();
  const { tables, count } = talliedList(metadata, matching, [], values);
  const select = (total: string): string => `SELECT (${total})::text, ${stateOf(resource)}`;
  return count === undefined
    ? [
        select(`SELECT count(*) FROM "${metadata.tableName}" object ${matching.where}`),
        matching.values,
      ]
    : [`WITH ${[objectTable(metadata), ...tables].join(',\n')} ${select(count)}`, values.values];
}
