import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { CommandError } from '../command-error.js';
import { endpointsIn } from '../http/endpoints.js';
import { applicationConfigOf } from '../private-api/decorators.js';
import { columnProblems, nameProblems } from './declared-resources.js';
import { resourcesOf } from '../resource/resource.js';
import { withFacets } from '../list/facets/facet-endpoints.js';
import { handlerProblems } from './declared-handlers.js';
import { queryProblems, unreachedHandlers } from './declared-queries.js';

/** Refuses to start with entities, query classes or handlers whose declarations are wrong. It calls no handler. */
@Injectable()
export class DeclarationCheck implements OnModuleInit {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly modules: ModulesContainer,
    private readonly moduleRef: ModuleRef,
  ) {}

  /** @throws CommandError that names all that is wrong */
  onModuleInit(): void {
    const endpoints = endpointsIn(this.modules);
    const problems = [
      ...nameProblems(this.dataSource),
      ...[...resourcesOf(this.dataSource).values()].flatMap((each) => [...columnProblems(each)]),
      ...handlerProblems(this.modules, applicationConfigOf(this.moduleRef)),
      ...endpoints.flatMap((endpoint) => [...queryProblems(endpoint)]),
      ...unreachedHandlers(withFacets(endpoints)),
    ];
    if (problems.length > 0) throw new CommandError([...new Set(problems)].join('; '));
  }
}
