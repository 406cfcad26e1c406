import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { ApplicationConfig, ModuleRef, ModulesContainer, type NestContainer } from '@nestjs/core';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { CommandError } from '../command-error.js';
import { type Endpoint, endpointsIn, pathParametersOf } from '../http/endpoints.js';
import { columnProblems } from '../resource/declared-columns.js';
import { nameProblems } from '../resource/declared-names.js';
import { resourcesOf } from '../resource/resource.js';
import { Settings } from '../settings/settings.js';
import { typeNameOf } from '../resource/column-values.js';
import { fittingInstead } from '../resource/comparable.js';
import { addRead, parametersOf } from '../http/parameters/declared-parameters.js';
import { readColumns } from '../list/condition/condition.js';
import { NON_FILTERS } from '../list/condition/filters.js';
import { withFacets } from '../list/facets/facet-endpoints.js';
import { FACET_PARAMETERS, FacetsQueryDto } from '../list/facets/facets-query.dto.js';
import { callLists, comparisonsIn, extremes } from './called-lists.js';
import { handlerProblems } from './declared-handlers.js';
import { queryProblems, unreachedHandlers } from './declared-queries.js';
import { ObjectQueryDto } from '../list/query/list-query.dto.js';
import { Listing, ObjectLookup } from '../list/listing/listing.js';
import { WrongEntityError } from '../list/query/query-of.js';

/** Refuses to start with entities, query classes or handlers whose lists would be wrong. */
@Injectable()
export class DeclarationCheck implements OnModuleInit, OnApplicationBootstrap {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly modules: ModulesContainer,
    private readonly settings: Settings,
    private readonly moduleRef: ModuleRef,
  ) {}

  /** @throws CommandError that names all that is wrong */
  onModuleInit(): void {
    const endpoints = endpointsIn(this.modules);
    refuse([
      ...nameProblems(this.dataSource),
      ...[...resourcesOf(this.dataSource).values()].flatMap((each) => [...columnProblems(each)]),
      ...handlerProblems(this.modules, this.config),
      ...endpoints.flatMap((endpoint) => [...queryProblems(endpoint)]),
      ...unreachedHandlers(withFacets(endpoints)),
    ]);
  }

  /** What holds for all handlers. Nest has no provider of it. */
  private get config(): ApplicationConfig {
    const { container } = this.moduleRef as unknown as { container: NestContainer };
    return container.applicationConfig ?? new ApplicationConfig();
  }

  /**
   * @throws CommandError for query classes of other entities than those that their handlers list, and for
   * filters whose values the type of a column does not have
   */
  async onApplicationBootstrap(): Promise<void> {
    const problems: string[] = [];
    const lists: Endpoint[] = [];
    const endpoints = endpointsIn(this.modules);
    for (const endpoint of endpoints) {
      const { query } = endpoint;
      if (!(query.prototype instanceof ObjectQueryDto)) continue;
      const params = Object.fromEntries(pathParametersOf(endpoint).map((name) => [name, '1']));
      try {
        const handler = await endpoint.handlerFor();
        // A handler describes a list and reads nothing. What one reads itself is not waited for.
        const result = handler({ query: new query(), params });
        if (result instanceof Promise) result.catch(() => undefined);
        if (result instanceof Listing) lists.push(endpoint);
        if (result instanceof Listing || result instanceof ObjectLookup) {
          const { manager, metadata } = result.repository;
          if (manager.dataSource !== this.dataSource)
            problems.push(
              `${endpoint.name} lists ${metadata.name} of another database: lists are read from that of the service`,
            );
        }
      } catch (error) {
        // Any other error may be for want of parameters, or of a request.
        if (error instanceof WrongEntityError) problems.push(error.message);
      }
    }
    for (const { query } of withFacets(endpoints)) {
      const names = query.prototype instanceof FacetsQueryDto ? FACET_PARAMETERS : [];
      for (const [name, declared] of parametersOf(query))
        if (NON_FILTERS.has(name) || names.includes(name)) addRead(declared, []);
    }
    for await (const { parameter, declared, result } of callLists(lists, this.settings, extremes)) {
      const list = result instanceof Listing ? result : undefined;
      if (!NON_FILTERS.has(parameter))
        addRead(declared, list && readColumns(list.repository.metadata, list.filters));
      if (list) problems.push(...misfitsOf(list, parameter));
    }
    refuse(problems);
  }
}

/**
 * What a list compares with values that the type of the column does not have, as lines: PostgreSQL refuses the
 * statement, or finds other objects than those that the client asks for.
 *
 * @param parameter the filter that it has
 */
function misfitsOf(list: Listing, parameter: string): string[] {
  const { name } = list.repository.metadata;
  return comparisonsIn(list).flatMap(({ column, ...compared }) => {
    const fitting = fittingInstead(column, compared);
    if (fitting === undefined) return [];
    const what = compared.isPattern ? 'a pattern of a text' : String(compared.value);
    return `the filter ${parameter} compares ${name}.${column.propertyName}, of type ${typeNameOf(column)}, with ${what}${fitting}`;
  });
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new CommandError([...new Set(problems)].join('; '));
}
