import { Injectable } from '@nestjs/common';
import { ParameterValues } from '../../database/statement.js';
import { selection } from '../../resource/selection.js';
import type { ScopeClient } from '../../resource/visibility.js';
import { Settings } from '../../settings/settings.js';
import type { Listing } from '../listing/listing.js';
import { isByRelevance, orderBy, totalOrder } from '../listing/order.js';
import { defaultLimit } from '../query/list-query.dto.js';
import { matchingObjects } from '../statement/matching-objects.js';
import type { PageRequest, PageToRead } from '../statement/page-request.js';
import { VisibleListing } from '../visibility/visible-listing.js';
import { visibleRelated } from '../visibility/visible-rows.js';
import { keyOf } from './key-of.js';
import { ListSources } from './list-sources.js';
import { explainPage, PageReader } from './page-reader.js';
import type { PreparedList } from './prepared-list.js';
import { type ReadRows, readResolved } from './resolved-listing.js';
import { wholeList } from './whole-list.js';

/**
 * Reads lists. A page and the exact count of all matching objects come from one statement, so both
 * show the same snapshot, or from one snapshot and what is known of its version.
 */
@Injectable()
export class ListReader {
  constructor(
    private readonly settings: Settings,
    private readonly sources: ListSources,
    private readonly pages: PageReader,
  ) {}

  /**
   * Builds the statements of a list.
   *
   * @param listing of its query, `offset` does not count beside `after`
   * @param prefersWait whether its request prefers to wait for a change
   * @throws as `ListSources.of`
   */
  prepare(listing: VisibleListing, prefersWait = false): PreparedList {
    const { resources, repository, client, isVersioned, isPartial } = listing;
    const { reads, inHistory, page: ofSource } = this.sources.of(listing, prefersWait);
    const request = this.requestOf(listing);
    const { fields, order, isByRelevance, limit, offset, after } = request;
    const matching = matchingObjects(listing, order);
    const { where, values } = matching;
    const ofList = [ofSource.resource, where, values, orderBy(order), isByRelevance];
    const shown = new ParameterValues();
    // Tells the pages of two releases apart, too.
    const selected = selection(repository.metadata, fields, visibleRelated(client, shown));
    const read = <T>(work: (page: PageToRead, rows: ReadRows) => Promise<T>): Promise<T> =>
      readResolved(reads, listing, (resolved, rows) => {
        const found = resolved === listing ? matching : matchingObjects(resolved, order);
        return work({ request, resources, matching: found }, rows);
      });
    return {
      // Pages with the same objects have other tags.
      key: keyOf(ofList, selected, shown.values, limit, offset, after, isPartial),
      place: after === undefined ? { offset, limit } : { limit },
      isOfChanges: listing.since !== undefined,
      read: () => {
        const list = isVersioned ? keyOf(...ofList) : undefined;
        return inHistory(read((page, rows) => this.pages.read(page, list, rows)));
      },
      explain: () => read(explainPage),
      whole: (format) => wholeList(reads, listing, matching, format),
      // Last: properties behind a spread take V8 ten microseconds.
      ...ofSource,
    };
  }

  /**
   * Reads the objects of a page, as a response has them: times, decimals and integers of 64 bits are texts. The
   * errors are those of `VisibleListing.of` and `prepare`.
   *
   * @param described its query may have any `limit`; 50 without one
   * @param client who sees it; absent: none of its resources has a scope
   */
  async objects(described: Listing, client?: ScopeClient): Promise<Record<string, unknown>[]> {
    const { objects } = await this.prepare(VisibleListing.of(described, client)).read();
    return JSON.parse(objects) as Record<string, unknown>[];
  }

  private requestOf(listing: VisibleListing): PageRequest {
    const { query, fields, repository } = listing;
    const { offset, after, limit = defaultLimit(this.settings), sort } = query;
    return {
      fields,
      order: totalOrder(repository.metadata, sort),
      isByRelevance: isByRelevance(sort),
      limit,
      offset: offset ?? 0,
      after,
      seen: listing,
    };
  }
}
