import { Controller, Get, type OnModuleInit, Query, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { type Endpoint, endpointsIn } from '../../http/endpoints.js';
import { Listing } from '../listing.js';
import { type ListQueryClass, listQueryOf } from '../query-of.js';
import { FacetCounts } from './facet-counts.js';
import { FacetsOf, FacetsQueryDto, listQueryFrom } from './facets-query.dto.js';

/**
 * Creates the controller for the facet counts of a resource. Its filters mean what they mean in the list
 * of the resource: it calls the handler of the list.
 *
 * @param fields what can be counted
 * @throws TypeError if there is no query class of the list yet
 */
export function facetsController(entity: Type, resource: string, fields: readonly string[]): Type {
  const listQuery = requireListQuery(entity);

  @FacetsOf(entity, listQuery, fields)
  class FacetsDto extends FacetsQueryDto {}

  @Controller(`facets/${resource}`)
  class FacetsController implements OnModuleInit {
    private listEndpoint?: Endpoint;

    constructor(private readonly modules: ModulesContainer) {}

    /** @throws TypeError if no handler takes the query class of the list */
    onModuleInit(): void {
      this.listEndpoint = endpointsIn(this.modules).find(({ query }) => query === listQuery);
      if (!this.listEndpoint) {
        throw new TypeError(
          `${resource} has counted columns, and no @Get() takes ${listQuery.name}`,
        );
      }
    }

    @Get()
    async list(@Query() query: FacetsDto): Promise<FacetCounts> {
      const list = await this.listEndpoint?.call(listQueryFrom(listQuery, query));
      if (!(list instanceof Listing)) {
        throw new TypeError(
          `The list of ${resource} is no Listing, so its facets cannot be counted`,
        );
      }
      return new FacetCounts(list, query.facets ?? fields, query.limit);
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
