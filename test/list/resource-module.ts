import { Controller, Get, Module, Param, Query, type Type } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type ObjectLiteral } from 'typeorm';
import type { Conditions } from '#server/list/condition/filters.js';
import {
  type Listing,
  ListModule,
  listOf,
  type ListQueryDto,
  type ObjectLookup,
  objectOf,
  type ObjectQueryDto,
} from '@catalogue/server';
import { primaryColumnOf, resourceName } from '#server/resource/resource.js';

/** What a controller serves. */
interface Served<Query extends ListQueryDto> {
  /** Absent: the name of the resource. */
  readonly path?: string;
  /** The query class of the list. */
  readonly list: Type<Query>;
  /** The query class of single objects. Absent: they have no endpoint. */
  readonly object?: Type<ObjectQueryDto>;
}

/** A controller of an entity as `nest g resource` writes one. */
export function controllerOf<Entity extends ObjectLiteral, Query extends ListQueryDto>(
  entity: Type<Entity>,
  { path = resourceName(entity), list, object }: Served<Query>,
  conditions?: Conditions<Entity, Query>,
): Type {
  @Controller(path)
  class ResourceController {
    constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

    @Get()
    list(@Query() query: Query): Listing {
      const repository = this.dataSource.getRepository(entity);
      return listOf(repository, query, ...([conditions] as never));
    }

    get(identifier: string, query: ObjectQueryDto): ObjectLookup {
      return objectOf(this.dataSource.getRepository(entity), identifier, query);
    }
  }
  Object.defineProperty(ResourceController, 'name', { value: `${entity.name}Controller` });
  const { prototype } = ResourceController;
  Reflect.defineMetadata('design:paramtypes', [list], prototype, 'list');
  if (object) {
    const key = primaryColumnOf(entity)?.propertyName ?? '';
    Param(key)(prototype, 'get', 0);
    Query()(prototype, 'get', 1);
    Reflect.defineMetadata('design:paramtypes', [String, object], prototype, 'get');
    const { get } = Object.getOwnPropertyDescriptors(prototype);
    Get(`:${key}`)(prototype, 'get', get);
  }
  return ResourceController;
}

/** A module of some resources and their controllers. */
export function resourceModule(entities: readonly Type[], ...controllers: Type[]): Type {
  @Module({ imports: entities.map((entity) => ListModule.forFeature(entity)), controllers })
  class ResourceModule {}
  return ResourceModule;
}
