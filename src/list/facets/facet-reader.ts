import { Injectable } from '@nestjs/common';
import { ReadPool } from '../../database/read-pool.js';
import type { Statement } from '../../database/statement.js';
import type { ScopeClient } from '../../resource/scope.js';
import { Settings } from '../../settings/settings.js';
import { defaultLimit } from '../query/list-query.dto.js';
import { keyOf } from '../reading/key-of.js';
import { ListReader } from '../reading/list-reader.js';
import type { PreparedPage, VersionedPage } from '../reading/prepared-list.js';
import { readResolved } from '../reading/resolved-listing.js';
import { PreparedStatements } from '../statement/prepared-statements.js';
import { onlyPage } from '../reading/versions.js';
import { FacetCounts } from './facet-counts.js';
import { facetStatement } from './facet-statement.js';

/** Reads facet counts, each from one statement, and hence from one snapshot. */
@Injectable()
export class FacetReader {
  constructor(
    private readonly settings: Settings,
    private readonly reads: ReadPool,
    private readonly lists: ListReader,
    private readonly statements: PreparedStatements,
  ) {}

  /**
   * Builds the statement of facet counts. They change with the list whose objects they count.
   *
   * @param client who sees these objects; absent: their resource has no scope
   * @throws ApiError `-2` while the lists of its resource are withheld, or it is loaded
   */
  prepare({ list: described, fields, limit }: FacetCounts, client?: ScopeClient): PreparedPage {
    const list = this.lists.prepare(described, client);
    const counts = new FacetCounts(described.seenBy(client), fields, limit);
    const { resources } = counts.list;
    const [read, values] = this.statementOf(counts);
    return {
      resource: list.resource,
      key: keyOf(read.digest, values),
      isPlain: list.isPlain,
      isVersioned: () => list.isVersioned(),
      state: () => list.state(),
      read: () =>
        readResolved(this.reads, counts.list, async (resolved, rows) => {
          const [text, sent] =
            resolved === counts.list
              ? [read, values]
              : this.statementOf(new FacetCounts(resolved, counts.fields, counts.limit));
          return onlyPage(await rows<VersionedPage>(text, sent), resources);
        }),
    };
  }

  private statementOf(counts: FacetCounts): [Statement, unknown[]] {
    const { list, limit = defaultLimit(this.settings) } = counts;
    const [text, values] = facetStatement(counts, limit);
    const keep = list.conditions.length > 0 ? 'never' : 'if frequent';
    return [this.statements.of(list.repository.metadata, text, keep), values];
  }
}
