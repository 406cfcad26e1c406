import { Controller, type DynamicModule, Get, Module, Query, type Type } from '@nestjs/common';
import { InjectDataSource, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, MoreThanOrEqual, type ObjectLiteral, Raw } from 'typeorm';
import type { Listing } from '../serving/listing.js';
import { findPage } from '../list-of.js';
import { ListQueryDto } from '../list-query.dto.js';
import { QueryOf } from '../query-of.js';
import { DeletedSinceParam } from './deleted-since.js';
import { type DeletionEntity, deletionOf, KEPT } from './deletion.js';

/** The list of what was deleted of a resource, beside that of what is there. */
@Module({})
export class DeletionsModule {
  static of(resource: Type): DynamicModule {
    const deletion = deletionOf(resource);
    return {
      module: DeletionsModule,
      imports: [TypeOrmModule.forFeature([deletion.entity])],
      controllers: [controllerOf(deletion)],
    };
  }
}

function controllerOf({ resource, identifier, entity }: DeletionEntity): Type {
  @QueryOf(entity, { sort: [identifier, 'deletedAt'] })
  class ListDeletionsDto extends ListQueryDto {
    @DeletedSinceParam(
      `Those deleted at this time or later, at most ${KEPT.days} days ago: the X-Updated-Until of an earlier answer.`,
    )
    deletedSince!: Date;
  }

  @Controller(`deletions/${resource}`)
  class DeletionsController {
    constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

    @Get()
    list(@Query() query: ListDeletionsDto): Listing {
      const deletions = this.dataSource.getRepository<ObjectLiteral>(entity);
      return findPage<ObjectLiteral, ListDeletionsDto>(
        deletions,
        query,
        {
          deletedSince: (time) => ({
            deletedAt: MoreThanOrEqual(time),
            // As a subquery that stays one: of few deletions each is looked up by itself.
            [identifier]: Raw(
              (column) =>
                `(SELECT true FROM "${resource}" present WHERE present."${identifier}" = ${column}) IS NULL`,
            ),
          }),
        },
        resource,
      );
    }
  }
  Object.defineProperty(DeletionsController, 'name', { value: `${entity.name}sController` });
  return DeletionsController;
}
