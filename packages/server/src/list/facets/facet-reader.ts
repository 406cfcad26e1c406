import { Injectable, type Type } from '@nestjs/common';
import type { Statement } from '../../database/statement.js';
import { errors } from '../../http/errors.js';
import { resourceName } from '../../resource/resource.js';
import { rightsOf, type ScopeClient } from '../../resource/visibility.js';
import { Settings } from '../../settings/settings.js';
import { Listing } from '../listing/listing.js';
import { defaultLimit } from '../query/list-query.dto.js';
import { entityOf } from '../../http/parameters/declared-parameters.js';
import { listKeyOf, type PreparedPage, type VersionedPage } from '../reading/prepared-list.js';
import { ListSources } from '../reading/list-sources.js';
import { readResolved } from '../reading/resolved-listing.js';
import { onlyPage } from '../reading/versions.js';
import { searchIn } from '../statement/criteria.js';
import { PreparedStatements } from '../statement/prepared-statements.js';
import { VisibleListing } from '../visibility/visible-listing.js';
import { columnNamed, countedByDefault, visibleFields } from './countable-fields.js';
import { type FacetRequest, facetStatement, labelFields } from './facet-statement.js';
import { type MissingWords, missingWords, type NearText, nearTexts } from './near-words.js';
import type { FacetsQueryDto } from './facets-query.dto.js';

/**
 * The list whose facet counts a request asks for, as the client sees it, and the counts, of what the handler of the list
 * returned. Nothing has been read yet.
 *
 * @throws TypeError if that is no `Listing`; ApiError `-15` if the client sees no field that is counted by default
 */
export function facetRequestOf(
  list: unknown,
  query: FacetsQueryDto,
  client: ScopeClient | undefined,
): [VisibleListing, FacetRequest] {
  const entity = entityOf(query.constructor) as Type;
  if (!(list instanceof Listing)) {
    throw new TypeError(
      `The list of ${resourceName(entity)} is no Listing, so its facets cannot be counted`,
    );
  }
  const fields = visibleFields(entity, query.countable, rightsOf(client));
  const { facets: names = countedByDefault(fields), limit, facetStarts: starts, bounds } = query;
  if (names.length === 0) throw errors.forbidden('These facets are not for this client');
  const request = { fields, names, limit, starts, bounds };
  return [countedListing(list, request, client), request];
}

/** A list as a client sees it. Its fields are those that the counts show or depend on. */
export function countedListing(
  list: Listing,
  { fields, names }: FacetRequest,
  client: ScopeClient | undefined,
): VisibleListing {
  const columns = names.flatMap((name) =>
    fields.presence.has(name) ? [] : [columnNamed(fields, name)],
  );
  return VisibleListing.of(list, client, {
    fields: labelFields(list.repository.metadata, columns),
  });
}

/** Reads facet counts, each from one statement and so from one snapshot. Another one finds the near texts that it counts. */
@Injectable()
export class FacetReader {
  constructor(
    private readonly settings: Settings,
    private readonly sources: ListSources,
    private readonly statements: PreparedStatements,
  ) {}

  /**
   * Builds the statement of facet counts. They change with the list whose objects they count.
   *
   * @param list see `facetRequestOf`
   * @param prefersWait whether its request prefers to wait for a change
   * @throws as `ListSources.of`
   */
  prepare(list: VisibleListing, request: FacetRequest, prefersWait = false): PreparedPage {
    const { reads, inHistory, page } = this.sources.of(list, prefersWait);
    const { fields, names } = request;
    const isNear = fields.search !== undefined && names.includes(fields.search);
    const search = isNear ? searchIn(list.filters) : undefined;
    // With the text itself: the near ones follow from it.
    const itself = search ? [{ text: search.text, distance: 0 }] : [];
    const prepared = this.statementOf(list, request, itself);
    const [{ digest }, sent] = prepared;
    return {
      key: listKeyOf(digest, sent, list.isPartial),
      read: () =>
        inHistory(
          readResolved(reads, list, async (resolved, rows) => {
            const { resources, repository } = list;
            let read = prepared;
            if (search) {
              const [text, values] = missingWords(resolved, search);
              const words = this.statements.of(repository.metadata, text, 'never');
              const near = nearTexts(search, await rows<MissingWords>(words, values));
              read = this.statementOf(resolved, request, near);
            } else if (resolved !== list) {
              read = this.statementOf(resolved, request);
            }
            return onlyPage(await rows<VersionedPage>(...read), resources, repository.metadata);
          }),
        ),
      ...page,
      // Near words also change with the statistics, which have no version.
      isVersioned: page.isVersioned && !search,
    };
  }

  private statementOf(
    list: VisibleListing,
    request: FacetRequest,
    near?: readonly NearText[],
  ): [Statement, unknown[]] {
    const { limit = defaultLimit(this.settings) } = request;
    const [text, values] = facetStatement(list, request, limit, near);
    const prepare = list.conditions.length > 0 ? 'never' : 'if frequent';
    return [this.statements.of(list.repository.metadata, text, prepare), values];
  }
}
