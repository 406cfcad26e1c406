import {
  Controller,
  Get,
  type OnModuleInit,
  Query,
  Req,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import { errors } from '../../http/errors.js';
import { type Endpoint, endpointsIn, pathParametersOf } from '../../http/endpoints.js';
import { listGuard } from '../query/list-guard.js';
import { Listing } from '../listing/listing.js';
import { type ListQueryClass, listQueryOf } from '../query/query-of.js';
import { FacetCounts } from './facet-reader.js';
import { countedByDefault, facetFieldsOf, visibleFacets } from './facet-fields.js';
import { FacetsOf, FacetsQueryDto, listQueryFrom } from './facets-query.dto.js';

/**
 * Creates the controller for the facet counts of a resource. Its filters mean what they mean in the list
 * of the resource: it calls the handler of the list.
 *
 * @param entity has counted columns
 * @throws TypeError if there is no query class of the list yet
 */
export function facetsController(entity: Type, resource: string): Type {
  const listQuery = requireListQuery(entity);
  const all = facetFieldsOf(entity);

  @FacetsOf(entity, listQuery, all)
  class FacetsDto extends FacetsQueryDto {}

  @UseGuards(listGuard(entity))
  @Controller(`facets/${resource}`)
  class FacetsController implements OnModuleInit {
    private listEndpoint?: Endpoint;

    constructor(private readonly modules: ModulesContainer) {}

    /** @throws TypeError if no handler without parameters in its path takes the query class of the list */
    onModuleInit(): void {
      this.listEndpoint = endpointsIn(this.modules).find(
        (endpoint) => endpoint.query === listQuery && pathParametersOf(endpoint).length === 0,
      );
      if (!this.listEndpoint) {
        throw new TypeError(
          `${resource} has counted columns, and no @Get() without parameters in its path takes ${listQuery.name}`,
        );
      }
    }

    @Get()
    async list(@Query() query: FacetsDto, @Req() request?: CatalogueRequest): Promise<FacetCounts> {
      const sent = listQueryFrom(listQuery, query);
      const handler = await this.listEndpoint?.handlerFor(request);
      const list = await handler?.({ query: sent, request });
      if (!(list instanceof Listing)) {
        throw new TypeError(
          `The list of ${resource} is no Listing, so its facets cannot be counted`,
        );
      }
      const fields = visibleFacets(entity, all, request?.client?.rights);
      const {
        facets: names = countedByDefault(fields),
        limit,
        facetStarts: starts,
        bounds,
      } = query;
      if (names.length === 0) throw errors.forbidden('These facets are not for this client');
      return new FacetCounts(list, { fields, names, limit, starts, bounds });
    }
  }
  Object.defineProperty(FacetsController, 'name', { value: `${entity.name}FacetsController` });
  return FacetsController;
}

function requireListQuery(entity: Type): ListQueryClass {
  const query = listQueryOf(entity);
  if (query) return query;
  throw new TypeError(
    `${entity.name} has counted columns, but there is no @QueryOf(${entity.name}) on a ListQueryDto yet: its ListModule.forFeature must come behind the query class of its list`,
  );
}
