import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { CommandError } from '../command-error.js';
import { endpointsIn, pathParametersOf } from '../http/endpoints.js';
import { columnProblems } from '../resource/declared-columns.js';
import { resourcesOf } from '../resource/resource.js';
import { queryProblems } from './declared-queries.js';
import { ObjectQueryDto } from './list-query.dto.js';
import { WrongEntityError } from './query-of.js';

/** Refuses to start with entities, query classes or handlers whose lists would be wrong. */
@Injectable()
export class DeclarationCheck implements OnModuleInit, OnApplicationBootstrap {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly modules: ModulesContainer,
  ) {}

  /** @throws CommandError that names all that is wrong */
  onModuleInit(): void {
    refuse([
      ...[...resourcesOf(this.dataSource).values()].flatMap(columnProblems),
      ...endpointsIn(this.modules).flatMap(queryProblems),
    ]);
  }

  /** @throws CommandError for query classes of other entities than those that their handlers list */
  async onApplicationBootstrap(): Promise<void> {
    const problems: string[] = [];
    for (const endpoint of endpointsIn(this.modules)) {
      const { query } = endpoint;
      if (!(query.prototype instanceof ObjectQueryDto)) continue;
      const params = Object.fromEntries(pathParametersOf(endpoint).map((name) => [name, '1']));
      try {
        const handler = await endpoint.handlerFor();
        // A handler describes a list and reads nothing. What one reads itself is not waited for.
        const result = handler({ query: new query(), params });
        if (result instanceof Promise) result.catch(() => undefined);
      } catch (error) {
        // Any other error may be for want of parameters, or of a request.
        if (error instanceof WrongEntityError) problems.push(error.message);
      }
    }
    refuse(problems);
  }
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new CommandError([...new Set(problems)].join('; '));
}
