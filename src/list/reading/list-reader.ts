import { Injectable } from '@nestjs/common';
import { ReadPool } from '../../database/read-pool.js';
import { ParameterValues } from '../../database/statement.js';
import { errors } from '../../http/errors.js';
import { capabilitiesOf } from '../../resource/capabilities.js';
import { nameOf, tableOf } from '../../resource/resource.js';
import { type ScopeClient, scopeOf } from '../../resource/scope.js';
import { selectedRelated, selection, selectsComputed } from '../../resource/selection.js';
import { Settings } from '../../settings/settings.js';
import { Dependencies, versionedTables } from './dependencies.js';
import { keyOf } from './key-of.js';
import { LoadingResources } from './loading-resources.js';
import { defaultLimit } from '../query/list-query.dto.js';
import type { Listing } from '../listing/listing.js';
import { isByRelevance, totalOrder } from '../listing/order.js';
import {
  type MatchingObjects,
  matchingObjects,
  type Selected,
  selectedBy,
} from '../statement/matching-objects.js';
import { PageReader } from './page-reader.js';
import type { PageRequest } from '../statement/page-request.js';
import { arePlain } from '../condition/condition.js';
import type { PreparedList, VersionedPage } from './prepared-list.js';
import { readResolved } from './resolved-listing.js';
import { scopeConditions, visibleRelated } from '../listing/scope.js';
import { StatementCache } from '../statement/statement-cache.js';
import type { Facet } from '../tally/facet.js';
import { tallyPage } from '../statement/tally-page.js';
import { UnscopedReads } from './unscoped-reads.js';
import { onlyPage, Versions } from './versions.js';
import { wholeList } from './whole-list.js';
import { WithheldLists } from './withheld-lists.js';

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
    private readonly dependencies: Dependencies,
    private readonly statements: StatementCache,
    private readonly withheld: WithheldLists,
    private readonly loading: LoadingResources,
    private readonly pages: PageReader,
    private readonly unscoped: UnscopedReads,
  ) {}

  /**
   * Builds the statements of a list.
   *
   * @param client who sees it; absent: none of its resources has a scope
   * @throws ApiError `-2` while the lists of one of its resources are withheld, or one is loaded; `-22` for
   * `after` beside `offset`
   */
  prepare(described: Listing, client?: ScopeClient): PreparedList {
    const listing = described.seenBy(client);
    const { repository, query, fields, conditions, resources } = listing;
    const { metadata } = repository;
    this.withheld.check(resources);
    this.loading.check(resources);
    const { offset = 0, after, limit = defaultLimit(this.settings), sort } = query;
    const request = {
      fields,
      order: totalOrder(metadata, sort),
      isByRelevance: isByRelevance(sort),
      limit,
      offset,
      after,
      seen: listing,
    };
    const selected = selectedBy(listing);
    let built: MatchingObjects | undefined;
    const matching = (): MatchingObjects =>
      (built ??= matchingObjects(listing, selected, request.order));
    const isComputed = selectsComputed(metadata, fields);
    const scopedRelated = selectedRelated(metadata, fields).flatMap(([{ metadata: related }]) =>
      scopeOf(related) ? [related] : [],
    );
    const unversioned = resources.filter((name) => !capabilitiesOf(name).version);
    const isPlain =
      unversioned.length === 0 &&
      versionedTables(resources).includes(tableOf(metadata)) &&
      arePlain(metadata, conditions) &&
      scopedRelated.every((related) => arePlain(related, scopeConditions(related, client))) &&
      !isComputed;
    const dependencies = async (): Promise<readonly string[]> => {
      if (isPlain) return [];
      await this.unscoped.checkFields(metadata, fields);
      await this.unscoped.checkFilters(described);
      if (unversioned.length > 0) return unversioned;
      const { where, values: sent } = matching();
      const values = new ParameterValues(sent);
      const shown =
        isComputed || scopedRelated.length > 0
          ? selection(metadata, fields, visibleRelated(client, values))
          : 'count(*)';
      const text = `SELECT ${shown} FROM ${tableOf(metadata)} object ${where}`;
      return this.dependencies.find(resources, { text, values: values.values });
    };
    const isVersioned = async (): Promise<boolean> => (await dependencies()).length === 0;
    if (after !== undefined && query.offset !== undefined) {
      throw errors.parameterInvalid('after', 'given without offset');
    }
    // The statement for a facet is prepared. That of each client would differ. It finds the page by the
    // ranges of the tally, of which a table of others has none, in the order of bytes.
    const isShared =
      after === undefined && scopedRelated.length === 0 && capabilitiesOf(metadata).places;
    const facet = isShared ? soleFacetOf(selected, request) : undefined;
    const page = facet
      ? this.facetPage(listing, facet, request)
      : this.combinedPage(listing, matching(), request, isVersioned);
    return {
      ...page,
      resource: nameOf(metadata),
      place: { limit, ...(after === undefined ? { offset } : {}) },
      isPlain,
      dependencies,
      isVersioned,
      state: () => this.versions.current(resources),
      whole: (format) => wholeList(this.reads, listing, matching(), format),
    };
  }

  /** A page of a facet in the order of the identifier. Its statement is prepared. */
  private facetPage(
    { repository: { metadata }, resources }: Listing,
    facet: Facet,
    request: PageRequest,
  ): Pick<PreparedList, 'key' | 'read'> {
    const [page, values] = tallyPage(this.statements, metadata, facet, request, resources);
    return {
      key: keyOf(page.digest, values),
      read: async () => onlyPage(await this.reads.rows<VersionedPage>(page, values), resources),
    };
  }

  /** A page of any list. It remembers the count, and where the page ended. */
  private combinedPage(
    listing: Listing,
    matching: MatchingObjects,
    request: PageRequest,
    isVersioned: () => Promise<boolean>,
  ): Pick<PreparedList, 'key' | 'read'> {
    const { repository, resources } = listing;
    const { metadata } = repository;
    const { fields, order, limit, offset, after } = request;
    const listKey = keyOf(
      nameOf(metadata),
      matching.where,
      matching.values,
      order,
      request.isByRelevance,
    );
    const shown = new ParameterValues();
    const selectList = selection(metadata, fields, visibleRelated(listing.client, shown));
    return {
      key: keyOf(listKey, selectList, shown.values, limit, offset, after),
      read: async () => {
        const isVersionedList = await isVersioned();
        return readResolved(this.reads, listing, (resolved, rows) => {
          const found =
            resolved === listing
              ? matching
              : matchingObjects(resolved, selectedBy(resolved), request.order);
          const requested = { metadata, matching: found, request, resources };
          return isVersionedList
            ? this.pages.readVersioned(requested, listKey, rows)
            : this.pages.readUnversioned(requested, rows);
        });
      },
    };
  }
}

/** The one facet that a list in ascending order of the identifier consists of, if it is one. */
function soleFacetOf({ facets }: Selected, { order }: PageRequest): Facet | undefined {
  // The identifier is the last key of every order.
  const isByIdentifier = order.length === 1 && order[0]?.direction === 'ASC';
  return isByIdentifier && facets?.length === 1 ? facets[0] : undefined;
}
