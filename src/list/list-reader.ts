import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { ReadPool } from '../database/read-pool.js';
import { Settings } from '../settings/settings.js';
import { Dependencies, isPlainCondition, versionedTables } from './dependencies.js';
import { defaultLimit } from './list-query.dto.js';
import type { Listing } from './listing.js';
import {
  isByIdentifier,
  type MatchingObjects,
  matchingObjects,
  offsetPage,
} from './page-statement.js';
import type { PreparedList, VersionedPage } from './prepared-list.js';
import { StatementCache } from './statement-cache.js';
import { tallyPage } from './tally/tally-page.js';
import { facetOfConditions } from './tally/facet.js';
import { requireVersion, Versions } from './versions.js';
import { wholeList } from './whole-list.js';
import { WithheldLists } from './withheld-lists.js';

/**
 * Reads lists. A page and the exact count of all matching objects come from one statement, so both
 * show the same snapshot. If the tally has a facet of the matching objects, it supplies the count and,
 * in a list ordered by identifier, the range of the offset. The cost of both grows with the square
 * root of the number of objects; see `RANGE_SIZE`.
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
    const { fields, offset = 0, limit = defaultLimit(this.settings), sort = [] } = query;
    const facet = facetOfConditions(metadata, conditions);
    let built: MatchingObjects | undefined;
    const objects = (): MatchingObjects => (built ??= matchingObjects(listing, facet));
    const [page, values] =
      facet && isByIdentifier(metadata, sort)
        ? tallyPage(this.statements, metadata, facet, { fields, limit, offset })
        : offsetPage(metadata, objects(), { limit, offset }, resource);
    const isPlain =
      versionedTables(resource).includes(`"${metadata.tableName}"`) &&
      conditions.every((condition) => isPlainCondition(metadata, condition));
    const dependencies = async (): Promise<readonly string[]> => {
      if (isPlain) return [];
      const { counting, values: sent } = objects();
      return this.dependencies.find(resource, { text: counting, values: sent });
    };
    return {
      offset,
      limit,
      isPlain,
      dependencies,
      isVersioned: async () => (await dependencies()).length === 0,
      key: hash('sha256', page.digest + JSON.stringify(values), 'base64url'),
      state: () => this.versions.current(resource),
      read: async () => {
        const [answer] = await this.reads.rows<VersionedPage>(page, values);
        if (!answer) throw new TypeError('A page is one row');
        requireVersion(answer.version, resource);
        return answer;
      },
      whole: (format) => wholeList(this.reads, listing, objects(), format),
    };
  }
}
