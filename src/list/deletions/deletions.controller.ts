import { Controller, Get, Query, type Type } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, MoreThanOrEqual, type ObjectLiteral, Raw } from 'typeorm';
import { ListQueryDto } from '../list-query.dto.js';
import { Listing } from '../listing.js';
import { QueryOf } from '../query-of.js';
import { DeletedSinceParam } from './deleted-since.js';
import { type DeletionEntity, RETENTION } from './deletion.js';

/** Creates the controller for the list of a resource's deletions. */
export function deletionsController({ resource, identifier, entity }: DeletionEntity): Type {
  @QueryOf(entity, { sort: [identifier, 'deletedAt'] })
  class ListDeletionsDto extends ListQueryDto {
    @DeletedSinceParam(
      `Those deleted at this time or later, at most ${RETENTION.days} days ago: the X-Updated-Until of an earlier answer.`,
    )
    deletedSince!: Date;
  }

  @Controller(`deletions/${resource}`)
  class DeletionsController {
    constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

    @Get()
    list(@Query() query: ListDeletionsDto): Listing {
      const deletions = this.dataSource.getRepository<ObjectLiteral>(entity);
      const conditions = {
        deletedAt: MoreThanOrEqual(query.deletedSince),
        // Not EXISTS: PostgreSQL would turn it into a join, which is slower for a few deletions than a
        // lookup of each.
        [identifier]: Raw(
          (column) =>
            `(SELECT true FROM "${resource}" present WHERE present."${identifier}" = ${column}) IS NULL`,
        ),
      };
      // The version of the resource: objects and deletions change in the same transactions.
      return new Listing(deletions, query, [conditions], [resource]);
    }
  }
  Object.defineProperty(DeletionsController, 'name', { value: `${entity.name}sController` });
  return DeletionsController;
}
