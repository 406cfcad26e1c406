import type { EntityMetadata } from 'typeorm';
import { capabilitiesOf } from '../../resource/capabilities.js';
import { tableOf } from '../../resource/resource.js';
import { type ScopeClient, scopeOf } from '../../resource/scope.js';
import { selectedComputed, selectedRelated } from '../../resource/selection.js';
import type { Settings } from '../../settings/settings.js';
import { arePlain } from '../condition/condition.js';
import type { Listing } from '../listing/listing.js';
import { isByRelevance, totalOrder } from '../listing/order.js';
import { scopeConditions } from '../listing/scope.js';
import { defaultLimit } from '../query/list-query.dto.js';
import { type MatchingObjects, matchingObjects } from '../statement/matching-objects.js';
import type { PageRequest } from '../statement/page-request.js';
import { versionedTables } from './dependencies.js';

/** A list as a client sees it, and what follows from it. Nothing has been read. */
export class ListToRead {
  readonly listing: Listing;
  readonly metadata: EntityMetadata;
  readonly request: PageRequest;
  readonly matching: MatchingObjects;
  readonly isComputed: boolean;
  /** The resources with a scope whose objects it shows beside its own. */
  readonly scopedRelated: readonly EntityMetadata[];
  /** Resources whose changes give them no other version. */
  readonly unversioned: readonly string[];
  /** Whether it reads nothing that can change without changing the versions of its resources. */
  readonly isPlain: boolean;

  constructor(
    readonly described: Listing,
    readonly client: ScopeClient | undefined,
    settings: Settings,
  ) {
    const listing = described.seenBy(client);
    const { query, fields, repository } = listing;
    const { offset = 0, after, limit = defaultLimit(settings), sort } = query;
    this.listing = listing;
    this.metadata = repository.metadata;
    this.request = {
      fields,
      order: totalOrder(this.metadata, sort),
      isByRelevance: isByRelevance(sort),
      limit,
      offset,
      after,
      seen: listing,
    };
    this.matching = matchingObjects(listing, this.request.order);
    this.isComputed = selectedComputed(this.metadata, fields).length > 0;
    this.scopedRelated = selectedRelated(this.metadata, fields).flatMap(([{ metadata }]) =>
      scopeOf(metadata) ? [metadata] : [],
    );
    const { resources, conditions } = listing;
    this.unversioned = resources.filter((name) => !capabilitiesOf(name).version);
    this.isPlain =
      this.unversioned.length === 0 &&
      versionedTables(resources).includes(tableOf(this.metadata)) &&
      arePlain(this.metadata, conditions) &&
      this.scopedRelated.every((each) => arePlain(each, scopeConditions(each, client))) &&
      !this.isComputed;
  }
}
