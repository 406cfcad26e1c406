import type { Type } from '@nestjs/common';
import { type Endpoint, pathParametersOf } from '../../http/endpoints.js';
import { entityOf } from '../../http/parameters/declared-parameters.js';
import { hasOwnTable, resourceName } from '../../resource/resource.js';
import { listQueryOf } from '../query/query-of.js';
import { countedFieldsOf } from './countable-fields.js';
import { facetsQueryOf } from './facets-query.dto.js';

/** The endpoint of facet counts, and that of the list whose handler answers it. */
interface FacetEndpoint {
  readonly list: Endpoint;
  readonly facets: Endpoint;
}

/**
 * The endpoints of facet counts: another path of the list of each resource with counted columns, with parameters of its
 * own. A list with parameters in its path has none.
 *
 * @param endpoints in the order of their modules
 * @throws CommandError if a list has a filter with the name of a parameter of the facet counts
 */
export function facetEndpoints(endpoints: readonly Endpoint[]): FacetEndpoint[] {
  const found = new Set<Type<object>>();
  return endpoints.flatMap((list) => {
    const entity = entityOf(list.query) as Type | undefined;
    const query = entity && listQueryOf(entity);
    if (!query || query !== list.query || found.has(query)) return [];
    const isCounted =
      hasOwnTable({ target: entity }) && countedFieldsOf({ target: entity }).length > 0;
    if (!isCounted || pathParametersOf(list).length > 0) return [];
    found.add(query);
    const path = `/facets/${resourceName(entity)}`;
    return [{ list, facets: { ...list, path, query: facetsQueryOf(entity, query) } }];
  });
}

/** Endpoints, and behind each list that of its facet counts. */
export function withFacets(endpoints: readonly Endpoint[]): Endpoint[] {
  const facets = new Map(facetEndpoints(endpoints).map((each) => [each.list, each.facets]));
  return endpoints.flatMap((endpoint) => [endpoint, facets.get(endpoint) ?? []].flat());
}
