import { Any } from 'typeorm';
import type { ReadPool } from '../database/read-pool.js';
import { Snapshot } from '../database/snapshot.js';
import type { Statement } from '../database/statement.js';
import type { TextRow } from '../database/text-query.js';
import { Listing } from './listing.js';
import { replaceSubtrees, subtreeQuery, subtreesIn } from './subtrees.js';

/** Reads the rows of a statement, as `ReadPool.rows`. */
export type ReadRows = <Row extends TextRow<Row>>(
  statement: Statement,
  values: readonly unknown[],
) => Promise<Row[]>;

/**
 * Reads a list whose conditions may name subtrees. It first looks up the identifiers in them, in the same
 * snapshot: the tally counts by values, and the planner knows how frequent values are.
 *
 * @param read gets the listing with identifiers in place of subtrees
 */
export function readResolved<T>(
  reads: ReadPool,
  listing: Listing,
  read: (listing: Listing, rows: ReadRows) => Promise<T>,
): Promise<T> {
  if (subtreesIn(listing.conditions).length === 0) {
    return read(listing, (statement, values) => reads.rows(statement, values));
  }
  return reads.read(async (pool) => {
    const snapshot = await Snapshot.open(pool, new AbortController().signal);
    try {
      return await read(await resolved(listing, snapshot), (statement, values) =>
        snapshot.objects(statement, values),
      );
    } finally {
      await snapshot.close();
    }
  });
}

async function resolved(listing: Listing, snapshot: Snapshot): Promise<Listing> {
  const { repository, query, conditions, resources } = listing;
  const identifiers: unknown[] = [];
  for (const { tree, roots } of subtreesIn(conditions)) {
    identifiers.push(Any((await snapshot.rows(subtreeQuery(tree, '$1'), [roots])).flat()));
  }
  return new Listing(repository, query, replaceSubtrees(conditions, identifiers), resources);
}
