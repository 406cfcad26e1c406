import { hash } from 'node:crypto';
import type { ReadPool } from '../database/read-pool.js';
import type { Listing } from './listing.js';
import { type ListStatements, openList } from './open-list.js';
import type { MatchingObjects } from './page-statement.js';
import type { StreamFormat, WholeList } from './prepared-list.js';
import { rowWriter } from './row-writer.js';
import { facetName } from './tally/facet.js';
import { countOf } from './tally/tally.js';
import { stateOf } from './versions.js';

/** Prepares a whole list. It has no default limit. */
export function wholeList(
  reads: ReadPool,
  { repository, query: { fields, limit, offset = 0 }, resource }: Listing,
  { query, values, counting, facet }: MatchingObjects,
  format: StreamFormat,
): WholeList {
  const { metadata } = repository;
  const [limitAt, offsetAt] = [1, 2].map((more) => `$${values.length + more}`);
  const writer = rowWriter(format, metadata, fields);
  const objects = writer.select(`${query} LIMIT ${limitAt} OFFSET ${offsetAt}`);
  const count = facet ? countOf(metadata, '$1') : `(${counting})`;
  const statements: ListStatements = {
    // LIMIT NULL means no limit.
    objects: [objects, [...values, limit ?? null, offset]],
    summary: [`SELECT ${count}, ${stateOf(resource)}`, facet ? [facetName(facet)] : values],
    resource,
  };
  return {
    key: hash('sha256', JSON.stringify([format, ...statements.objects]), 'base64url'),
    open: (signal) => reads.read((pool) => openList(pool, statements, writer, signal)),
  };
}
