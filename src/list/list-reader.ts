import { Injectable } from '@nestjs/common';
import { ReadPool } from '../database/read-pool.js';
import { ParameterValues } from '../database/statement.js';
import { errors } from '../http/errors.js';
import { externalTableOf, hasVersion, nameOf, tableOf } from '../resource/resource.js';
import { type ScopeClient, scopeOf } from '../resource/scope.js';
import { selectedRelated, selection, selectsComputed } from '../resource/selection.js';
import { Settings } from '../settings/settings.js';
import { Dependencies, versionedTables } from './dependencies.js';
import { keyOf } from './key-of.js';
import { type KnownList, KnownLists, type KnownPlace } from './known-lists.js';
import { defaultLimit } from './list-query.dto.js';
import type { Listing } from './listing.js';
import {
  isByRelevance,
  type MatchingObjects,
  matchingObjects,
  type Selected,
  selectedBy,
  totalOrder,
} from './matching-objects.js';
import { knownPageStatement, type PageRequest, pageStatement } from './page-statement.js';
import { isPlainCondition } from './plain-conditions.js';
import type { PreparedList, VersionedPage } from './prepared-list.js';
import { readResolved } from './resolved-listing.js';
import { scopeConditions, visibleRelated } from './scope.js';
import { StatementCache } from './statement-cache.js';
import type { Facet } from './tally/facet.js';
import { tallyPage } from './tally/tally-page.js';
import { UnscopedReads } from './unscoped-reads.js';
import { onlyPage, Versions } from './versions.js';
import { knownIdentifiers, objectsAhead, placesBehind, placesBehindKnown } from './walk.js';
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
    private readonly known: KnownLists,
    private readonly unscoped: UnscopedReads,
  ) {}

  /**
   * Builds the statements of a list.
   *
   * @param client who sees it; absent: none of its resources has a scope
   * @throws ApiError `-2` while the lists of one of its resources are withheld, `-22` for `after` beside
   * `offset`
   */
  prepare(described: Listing, client?: ScopeClient): PreparedList {
    const listing = described.seenBy(client);
    const { repository, query, fields, conditions, resources } = listing;
    const { metadata } = repository;
    this.withheld.check(resources);
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
    const unversioned = resources.filter((name) => !hasVersion(name));
    const isPlain =
      unversioned.length === 0 &&
      versionedTables(resources).includes(tableOf(metadata)) &&
      conditions.every((condition) => isPlainCondition(metadata, condition)) &&
      scopedRelated.every((related) =>
        scopeConditions(related, client).every((condition) => isPlainCondition(related, condition)),
      ) &&
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
      after === undefined && scopedRelated.length === 0 && !externalTableOf(metadata);
    const facet = isShared ? soleFacetOf(selected, request) : undefined;
    const page = facet
      ? this.facetPage(listing, facet, request)
      : this.combinedPage(listing, matching(), request, isVersioned);
    return {
      ...page,
      resource: nameOf(metadata),
      offset: after === undefined ? offset : undefined,
      limit,
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
        const isKnowable = await isVersioned();
        return readResolved(this.reads, listing, async (resolved, rows) => {
          const found =
            resolved === listing
              ? matching
              : matchingObjects(resolved, selectedBy(resolved), request.order);
          const read = async (known?: KnownList) => {
            const identifiers = knownIdentifiers({ offset, limit, known });
            const wanted = { ...request, ahead: objectsAhead(known, limit) };
            const built =
              known && identifiers
                ? knownPageStatement(metadata, identifiers, known.count, request, resources)
                : pageStatement(metadata, found, wanted, resources, known);
            const statement = built.isPlannedOnce
              ? this.statements.ofOnePlan(metadata, built.statement)
              : built.statement;
            const page = onlyPage(await rows<CombinedPage>(statement, built.values), resources);
            if (after !== undefined && page.begun === 'false') {
              throw errors.objectUnknown(nameOf(metadata), after);
            }
            return {
              page,
              known,
              isIdentified: identifiers !== undefined,
              usesKnown: built.usesKnown,
            };
          };
          if (!isKnowable) return (await read()).page;
          const attempt = await read(this.known.get(resources, listKey, offset));
          const isExact = !attempt.usesKnown || attempt.page.version === attempt.known?.version;
          const { page: answer, known, isIdentified } = isExact ? attempt : await read();
          const place = {
            offset,
            limit,
            known: known?.version === answer.version ? known : undefined,
          };
          let places: KnownPlace[] = [];
          if (isIdentified) places = placesBehindKnown(place);
          else if (after === undefined && !request.isByRelevance) {
            places = placesBehind(place, answer.count, answer.key, answer.ahead);
          }
          const { version, count } = answer;
          this.known.set(resources, listKey, { version, count }, places);
          return answer;
        });
      },
    };
  }
}

/** A row of `pageStatement`. */
interface CombinedPage extends VersionedPage {
  readonly key: string | null;
  readonly ahead: string | null;
  readonly begun: string;
}

/** The one facet that a list in ascending order of the identifier consists of, if it is one. */
function soleFacetOf({ facets }: Selected, { order }: PageRequest): Facet | undefined {
  // The identifier is the last key of every order.
  const isByIdentifier = order.length === 1 && order[0]?.direction === 'ASC';
  return isByIdentifier && facets?.length === 1 ? facets[0] : undefined;
}
