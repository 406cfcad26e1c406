import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import type { EntityMetadata } from 'typeorm';
import { ReadPool } from '../database/read-pool.js';
import type { Statement } from '../database/statement.js';
import type { TextRow } from '../database/text-query.js';
import { selection } from '../resource/selection.js';
import { Settings } from '../settings/settings.js';
import { Dependencies, isPlainCondition, versionedTables } from './dependencies.js';
import { type KnownList, KnownLists } from './known-lists.js';
import { defaultLimit } from './list-query.dto.js';
import type { Listing } from './listing.js';
import {
  type MatchingObjects,
  matchingObjects,
  type Selected,
  selectedBy,
  totalOrder,
} from './matching-objects.js';
import { type PageRequest, pageStatement } from './page-statement.js';
import { isSimple, type PageKey } from './picked-objects.js';
import type { PreparedList, VersionedPage } from './prepared-list.js';
import { StatementCache } from './statement-cache.js';
import type { Facet } from './tally/facet.js';
import { tallyPage } from './tally/tally-page.js';
import { requireVersion, Versions } from './versions.js';
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
  ) {}

  /**
   * Builds the statements of a list.
   *
   * @throws ApiError `-2` while the lists of its resource are withheld
   */
  prepare(listing: Listing): PreparedList {
    const { repository, query, conditions, resource } = listing;
    const { metadata } = repository;
    this.withheld.check(resource);
    const { fields, offset = 0, limit = defaultLimit(this.settings), sort } = query;
    const request = { fields, order: totalOrder(metadata, sort), limit, offset };
    const selected = selectedBy(listing);
    let built: MatchingObjects | undefined;
    const matching = (): MatchingObjects =>
      (built ??= matchingObjects(listing, selected, request.order));
    const isPlain =
      versionedTables(resource).includes(`"${metadata.tableName}"`) &&
      conditions.every((condition) => isPlainCondition(metadata, condition));
    const dependencies = async (): Promise<readonly string[]> => {
      if (isPlain) return [];
      const { where, values: sent } = matching();
      const text = `SELECT count(*) FROM "${metadata.tableName}" object ${where}`;
      return this.dependencies.find(resource, { text, values: sent });
    };
    const isVersioned = async (): Promise<boolean> => (await dependencies()).length === 0;
    const facet = soleFacetOf(selected, request);
    const page = facet
      ? this.facetPage(metadata, facet, request)
      : this.combinedPage(listing, matching(), request, isVersioned);
    return {
      ...page,
      offset,
      limit,
      isPlain,
      dependencies,
      isVersioned,
      state: () => this.versions.current(resource),
      whole: (format) => wholeList(this.reads, listing, matching(), format),
    };
  }

  /** A page of a facet in the order of the identifier. Its statement is prepared. */
  private facetPage(
    metadata: EntityMetadata,
    facet: Facet,
    request: PageRequest,
  ): Pick<PreparedList, 'key' | 'read'> {
    const [page, values] = tallyPage(this.statements, metadata, facet, request);
    return {
      key: hash('sha256', page.digest + JSON.stringify(values), 'base64url'),
      read: () => this.row(page, values, metadata.tableName),
    };
  }

  /** A page of any list. It remembers the count, and where the page ended. */
  private combinedPage(
    listing: Listing,
    matching: MatchingObjects,
    request: PageRequest,
    isVersioned: () => Promise<boolean>,
  ): Pick<PreparedList, 'key' | 'read'> {
    const { repository, resource } = listing;
    const { metadata } = repository;
    const { fields, order, limit, offset } = request;
    const list = JSON.stringify([metadata.tableName, matching.where, matching.values, order]);
    const listKey = hash('sha256', list, 'base64url');
    const page = JSON.stringify([listKey, selection(metadata, fields), limit, offset]);
    return {
      key: hash('sha256', page, 'base64url'),
      read: async () => {
        if (!(await isVersioned())) return (await this.combinedRow(listing, matching, request)).row;
        const known = this.known.get(resource, listKey, offset);
        const attempt = await this.combinedRow(listing, matching, request, known);
        const isExact = !attempt.usesKnown || attempt.row.version === known?.version;
        const answer = isExact
          ? attempt.row
          : (await this.combinedRow(listing, matching, request)).row;
        const { last, count } = answer;
        const end =
          last !== null && isSimple(order)
            ? {
                offset: Math.min(offset + limit, Number(count)),
                before: JSON.parse(last) as PageKey,
              }
            : undefined;
        this.known.set(resource, listKey, answer, end);
        return answer;
      },
    };
  }

  private async combinedRow(
    { repository: { metadata }, resource }: Listing,
    matching: MatchingObjects,
    request: PageRequest,
    known?: KnownList,
  ): Promise<{ row: CombinedPage; usesKnown: boolean }> {
    const { statement, values, usesKnown } = pageStatement(
      metadata,
      matching,
      request,
      resource,
      known,
    );
    return { row: await this.row<CombinedPage>(statement, values, resource), usesKnown };
  }

  private async row<Page extends VersionedPage & TextRow<Page>>(
    statement: Statement,
    values: readonly unknown[],
    resource: string,
  ): Promise<Page> {
    const [row] = await this.reads.rows<Page>(statement, values);
    if (!row) throw new TypeError('A page is one row');
    requireVersion(row.version, resource);
    return row;
  }
}

/** A page with the key of its last object as JSON, if it has any. */
interface CombinedPage extends VersionedPage {
  readonly last: string | null;
}

/** The one facet that a list in ascending order of the identifier consists of, if it is one. */
function soleFacetOf({ facets }: Selected, { order }: PageRequest): Facet | undefined {
  // The identifier is the last key of every order.
  const isByIdentifier = order.length === 1 && order[0]?.direction === 'ASC';
  return isByIdentifier && facets?.length === 1 ? facets[0] : undefined;
}
