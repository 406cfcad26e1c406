import type { ReadPool, Snapshot } from '../../database/read-pool.js';
import { ParameterValues, type Statement, type TextRow } from '../../database/statement.js';
import { ownTables } from '../../resource/resource.js';
import {
  type Condition,
  identifierQueriesIn,
  type IdentifierQuery,
  replaceIn,
} from '../condition/condition.js';
import { identifiersText } from '../condition/print.js';
import type { VisibleListing } from '../visibility/visible-listing.js';

/** Reads the rows of a statement, as `ReadPool.rows`. */
export type ReadRows = <Row extends TextRow<Row>>(
  statement: Statement,
  values: readonly unknown[],
) => Promise<Row[]>;

/** Most identifiers that take the place of a query. More of them make a statement slow to send and plan. */
const MAXIMUM_IDENTIFIERS = 10_000;

/**
 * Reads a list whose conditions may look up identifiers. It does so first, in the same snapshot: the tally
 * counts by values, and the planner knows how frequent values are.
 *
 * @param read gets the listing with identifiers in place of queries
 */
export function readResolved<T>(
  reads: ReadPool,
  listing: VisibleListing,
  read: (listing: VisibleListing, rows: ReadRows) => Promise<T>,
): Promise<T> {
  if (identifierQueriesIn(listing.conditions).length === 0) {
    return read(listing, (statement, values) => reads.rows(statement, values));
  }
  return reads.readSnapshot(
    async (snapshot) =>
      read(await resolved(listing, snapshot), (statement, values) =>
        snapshot.objects(statement, values),
      ),
    ownTables(listing.resources),
  );
}

async function resolved(listing: VisibleListing, snapshot: Snapshot): Promise<VisibleListing> {
  const found = new Map<IdentifierQuery, readonly unknown[]>();
  for (const query of identifierQueriesIn(listing.conditions)) {
    const values = new ParameterValues();
    const text = identifiersText(query, values);
    const rows = await snapshot.rows(
      `SELECT * FROM (${text}) looked LIMIT ${MAXIMUM_IDENTIFIERS + 1}`,
      values.values,
    );
    // Several objects may refer to one.
    if (rows.length <= MAXIMUM_IDENTIFIERS) found.set(query, [...new Set(rows.flat())]);
  }
  const replaced = (conditions: readonly Condition[]): Condition[] =>
    replaceIn(conditions, (condition) => {
      const values = condition.kind === 'identifiers' ? found.get(condition.query) : undefined;
      return values ? { kind: 'equal', column: condition.column, values } : condition;
    });
  return listing.with(replaced);
}
