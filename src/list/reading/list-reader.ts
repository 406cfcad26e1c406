import { Injectable } from '@nestjs/common';
import { ReadPool } from '../../database/read-pool.js';
import { ParameterValues } from '../../database/statement.js';
import type { EntityMetadata } from 'typeorm';
import { capabilitiesOf } from '../../resource/capabilities.js';
import { nameOf, tableOf } from '../../resource/resource.js';
import { type ScopeClient, scopeOf } from '../../resource/scope.js';
import { selectedComputed, selectedRelated, selection } from '../../resource/selection.js';
import { Settings } from '../../settings/settings.js';
import { arePlain } from '../condition/condition.js';
import type { Listing } from '../listing/listing.js';
import { isByRelevance, orderBy, totalOrder } from '../listing/order.js';
import { scopeConditions, visibleRelated } from '../listing/scope.js';
import { defaultLimit } from '../query/list-query.dto.js';
import { type MatchingObjects, matchingObjects } from '../statement/matching-objects.js';
import type { PageRequest, PageToRead } from '../statement/page-request.js';
import { Dependencies, versionedTables } from './dependencies.js';
import { sourceOf } from './history.js';
import { keyOf } from './key-of.js';
import { explainPage, PageReader } from './page-reader.js';
import type { PreparedList, PreparedPage } from './prepared-list.js';
import { type ReadRows, readResolved } from './resolved-listing.js';
import { UnavailableResources } from './unavailable-resources.js';
import { UnscopedReads } from './unscoped-reads.js';
import { VersionWatch } from './version-watch.js';
import { Versions } from './versions.js';
import { wholeList } from './whole-list.js';

/**
 * Reads lists. A page and the exact count of all matching objects come from one statement, so both
 * show the same snapshot, or from one snapshot and what is known of its version.
 */
@Injectable()
export class ListReader {
  constructor(
    private readonly settings: Settings,
    private readonly reads: ReadPool,
    private readonly versions: Versions,
    private readonly watch: VersionWatch,
    private readonly dependencies: Dependencies,
    private readonly unavailable: UnavailableResources,
    private readonly pages: PageReader,
    private readonly unscoped: UnscopedReads,
  ) {}

  /**
   * Builds the statements of a list.
   *
   * @param client who sees it; absent: none of its resources has a scope
   * @param described of its query, `offset` does not count beside `after`
   * @param prefersWait whether its request prefers to wait for a change, which a client that sees every column does: see
   * `sourceOf`
   * @throws ApiError `-2` while the lists of one of its resources are withheld, or one is loaded
   */
  prepare(described: Listing, client?: ScopeClient, prefersWait = false): PreparedList {
    const listing = described.seenBy(client);
    const { resources, repository } = listing;
    this.unavailable.checkLists(resources);
    const request = this.requestOf(listing);
    const { fields, order, isByRelevance, limit, offset, after } = request;
    const matching = matchingObjects(listing, order);
    const resource = nameOf(repository.metadata);
    const { where, values } = matching;
    const ofList = [resource, where, values, orderBy(order), isByRelevance];
    const shown = new ParameterValues();
    // Tells the pages of two releases apart, too.
    const selected = selection(repository.metadata, fields, visibleRelated(client, shown));
    const dependencies = this.dependenciesOf(described, listing, matching);
    const isNarrowed = !resources.every((name) => client?.rights?.seesAll(name) ?? true);
    const { reads, inHistory } = sourceOf(this.reads, described, prefersWait && !isNarrowed);
    const read = <T>(work: (page: PageToRead, rows: ReadRows) => Promise<T>): Promise<T> =>
      readResolved(reads, listing, (resolved, rows) => {
        const found = resolved === listing ? matching : matchingObjects(resolved, order);
        return work({ request, resources, matching: found }, rows);
      });
    return {
      resource,
      // Pages with the same objects have other tags.
      key: keyOf(ofList, selected, shown.values, limit, offset, after, isNarrowed),
      place: { limit, ...(after === undefined ? { offset } : {}) },
      dependencies,
      isNarrowed,
      state: () => inHistory(this.versions.current(resources, reads)),
      wait: (...wait) => this.watch.wait(this.versions.queryFor(resources, reads), ...wait),
      isOfChanges: described.since !== undefined,
      read: async () => {
        const isVersioned = !dependencies || (await dependencies()).length === 0;
        const listKey = isVersioned ? () => keyOf(...ofList) : undefined;
        return inHistory(read((page, rows) => this.pages.read(page, listKey, rows)));
      },
      explain: () => read(explainPage),
      whole: (format) => wholeList(reads, listing, described.since, matching, format),
    };
  }

  /**
   * Reads the objects of a page, as a response has them: times, decimals and integers of 64 bits are texts. The
   * errors are those of `prepare`.
   *
   * @param described its query may have any `limit`; 50 without one
   */
  async objects(described: Listing, client?: ScopeClient): Promise<Record<string, unknown>[]> {
    const { objects } = await this.prepare(described, client).read();
    return JSON.parse(objects) as Record<string, unknown>[];
  }

  private requestOf(listing: Listing): PageRequest {
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

  /** @param described before `seenBy` */
  private dependenciesOf(
    described: Listing,
    listing: Listing,
    matching: MatchingObjects,
  ): PreparedPage['dependencies'] {
    const { resources, fields, client } = listing;
    const { metadata, conditions, where } = matching;
    const unversioned = resources.filter((name) => !capabilitiesOf(name).version);
    const isComputed = selectedComputed(metadata, fields).length > 0;
    const related = scopedRelated(listing);
    const isPlain =
      unversioned.length === 0 &&
      versionedTables(resources).includes(tableOf(metadata)) &&
      arePlain(metadata, conditions) &&
      related.every((each) => arePlain(each, scopeConditions(each, client))) &&
      !isComputed;
    if (isPlain) return undefined;
    return async () => {
      await this.unscoped.checkFields(metadata, fields);
      await this.unscoped.checkFilters(described);
      if (unversioned.length > 0) return unversioned;
      const values = new ParameterValues(matching.values);
      const shown =
        isComputed || related.length > 0
          ? selection(metadata, fields, visibleRelated(client, values))
          : 'count(*)';
      const text = `SELECT ${shown} FROM ${tableOf(metadata)} object ${where}`;
      return this.dependencies.find(resources, { text, values: values.values });
    };
  }
}

/** The resources with a scope whose objects a list shows beside its own. */
function scopedRelated({ repository, fields }: Listing): EntityMetadata[] {
  return selectedRelated(repository.metadata, fields)
    .map(([{ metadata }]) => metadata)
    .filter(scopeOf);
}
