import { Injectable } from '@nestjs/common';
import { ReadPool, type Snapshot } from '../../database/read-pool.js';
import {
  ParameterValues,
  statement,
  type Statement,
  type TextRow,
} from '../../database/statement.js';
import { errors } from '../../http/errors.js';
import { nameOf, ownTables } from '../../resource/resource.js';
import {
  type Condition,
  identifierQueriesIn,
  type IdentifierQuery,
  replaceIn,
} from '../condition/condition.js';
import { identifiersText } from '../condition/print.js';
import { requireDatabase } from '../query/query-of.js';
import { MarkedTime, markOf } from '../query/since.js';
import type { VisibleListing } from '../visibility/visible-listing.js';
import type { Prepared, State } from './prepared-list.js';
import { Versions } from './versions.js';

/** The resources that cannot be read at present. */
@Injectable()
export class UnavailableResources {
  /** Those that an import fills. They were empty, and their tables are locked: a request would wait with a connection. */
  loading: readonly string[] = [];
  /** Whether the lists of a resource could be wrong, because its schema has not passed its check. */
  isUnavailable: (resource: string) => boolean = () => false;

  /** @throws ApiError `-2` if one of the resources is loaded */
  checkObjects(resources: readonly string[]): void {
    if (resources.some((resource) => this.loading.includes(resource))) throw errors.unavailable();
  }

  /** @throws ApiError `-2` if one of the resources is loaded, or its lists are unavailable */
  checkLists(resources: readonly string[]): void {
    this.checkObjects(resources);
    if (resources.some(this.isUnavailable)) throw errors.unavailable();
  }
}

/** Where a list is read, and a check of what was read. */
interface Source {
  readonly reads: ReadPool;
  readonly inHistory: <Read extends State>(reading: Promise<Read>) => Promise<Read>;
}

/** Where a list and its facet counts are read, and what they have in common. */
interface ListSource extends Source {
  readonly page: Prepared;
}

/** What is known of a list, or of several that are read as one. */
type ReadListing = Pick<
  VisibleListing,
  'repository' | 'resources' | 'isVersioned' | 'isPartial' | 'since'
>;

/** Finds where lists are read, and follows the versions of their resources. */
@Injectable()
export class ListSources {
  constructor(
    private readonly reads: ReadPool,
    private readonly versions: Versions,
    private readonly unavailable: UnavailableResources,
  ) {}

  /**
   * @param prefersWait whether its request prefers to wait for a change, which a client that sees every column does: see
   * `sourceOf`
   * @throws WrongEntityError for a list of another database; ApiError `-2` while the lists of one of its resources are unavailable, or one is loaded
   */
  of(listing: ReadListing, prefersWait: boolean): ListSource {
    const { resources, repository, isVersioned, isPartial } = listing;
    requireDatabase(repository.metadata, this.reads.dataSource);
    this.unavailable.checkLists(resources);
    const { reads, inHistory } = sourceOf(this.reads, listing, prefersWait && !isPartial);
    return {
      reads,
      inHistory,
      page: {
        resource: nameOf(repository.metadata),
        isVersioned,
        isPartial,
        state: () => inHistory(this.versions.current(resources, reads)),
        wait: (...wait) => this.versions.wait(resources, reads, ...wait),
      },
    };
  }
}

/**
 * The changes since a time are read on the primary: only there the history of the database is known. So is what waits for
 * a change: a replica that is behind has another version as well, which its client may have seen change already.
 */
function sourceOf(
  reads: ReadPool,
  { since }: Pick<VisibleListing, 'since'>,
  waits: boolean,
): Source {
  if (!since)
    return { reads: waits ? reads.of('primary first') : reads, inHistory: (reading) => reading };
  const ofPrimary = reads.of('primary');
  return {
    reads: ofPrimary,
    inHistory: async (reading) => {
      const read = await reading;
      await requireHistory((...query) => ofPrimary.rows(...query), since, read.until);
      return read;
    },
  };
}

const HAS_HISTORY = statement('SELECT has_history($1, $2)::text AS has', { prepared: true });

/**
 * Checks that the database still has what a client has seen that asks for changes since a time.
 *
 * @param until of what was read after that, on the primary
 * @throws ApiError `-38` if commits that it has seen were lost in a failover or a restore; `-2` until the history
 * that begins then has its number
 */
export async function requireHistory(
  rows: ReadRows,
  since: Date,
  until: string | null,
): Promise<void> {
  // The first watermark is not known yet.
  if (until === null) return;
  const present = markOf(until);
  if (!present) throw errors.unavailable();
  if (!(since instanceof MarkedTime)) return;
  const { history, position } = since.mark;
  if (history === present.history && position <= present.position) return;
  const [row] = await rows<{ has: string }>(HAS_HISTORY, [history, position]);
  if (row?.has !== 'true') throw errors.historyLost();
}

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
