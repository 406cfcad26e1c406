import { Injectable } from '@nestjs/common';
import { ReadPool } from '../../database/read-pool.js';
import { nameOf } from '../../resource/resource.js';
import { requireDatabase } from '../query/query-of.js';
import type { VisibleListing } from '../visibility/visible-listing.js';
import { type Source, sourceOf } from './history.js';
import type { Prepared } from './prepared-list.js';
import { UnavailableResources } from './unavailable-resources.js';
import { VersionWatch } from './version-watch.js';
import { Versions } from './versions.js';

/** What is known of a list, or of several that are read as one. */
type ReadListing = Pick<
  VisibleListing,
  'repository' | 'resources' | 'isVersioned' | 'isPartial' | 'since'
>;

/** Where a list and its facet counts are read, and what they have in common. */
interface ListSource extends Source {
  readonly page: Prepared;
}

/** Finds where lists are read, and follows the versions of their resources. */
@Injectable()
export class ListSources {
  constructor(
    private readonly reads: ReadPool,
    private readonly versions: Versions,
    private readonly watch: VersionWatch,
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
        wait: (...wait) => this.watch.wait(this.versions.queryFor(resources, reads), ...wait),
      },
    };
  }
}
