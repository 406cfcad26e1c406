import { Injectable } from '@nestjs/common';
import { ReadPool } from '../../database/read-pool.js';
import { statement } from '../../database/statement.js';
import { errors } from '../../http/errors.js';
import { nameOf } from '../../resource/resource.js';
import { requireDatabase } from '../query/query-of.js';
import { MarkedTime, markOf } from '../query/since.js';
import type { VisibleListing } from '../visibility/visible-listing.js';
import type { Prepared, State } from './prepared-list.js';
import { Versions } from './versions.js';
import { UnavailableResources } from './unavailable-resources.js';
import type { ReadRows } from './resolved-listing.js';

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
