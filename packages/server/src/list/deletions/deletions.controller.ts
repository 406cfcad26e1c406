import { applyDecorators, Controller, Get, Query, type Type, UseGuards } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { IsDefined } from 'class-validator';
import { DataSource, type ObjectLiteral } from 'typeorm';
import { Parameter } from '../../http/parameters/declared-parameters.js';
import { ListQueryDto } from '../query/list-query.dto.js';
import { listGuard } from '../query/list-guard.js';
import type { Listing } from '../listing/listing.js';
import { DATE_TIME } from '../query/parameters.js';
import { QueryOf } from '../query/query-of.js';
import { DeletionListing } from './deletion-listing.js';
import { type DeletionEntity, RETENTION } from './deletion.js';
import { readRetained, retainedExample } from './retained.js';

/** Creates the controller for the list of a resource's deletions. */
export function deletionsController(deletion: DeletionEntity): Type {
  const { target, resource, identifier, entity } = deletion;

  @QueryOf(entity, { sort: [identifier, 'deletedAt'] })
  class ListDeletionsDto extends ListQueryDto {
    @DeletedSinceParam(
      `Those deleted at this time or later, at most ${RETENTION.days} days ago: the X-Updated-Until of an earlier answer.`,
    )
    deletedSince!: Date;
  }

  @UseGuards(listGuard(target))
  @Controller(`deletions/${resource}`)
  class DeletionsController {
    constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

    @Get()
    list(@Query() query: ListDeletionsDto): Listing {
      const deletions = this.dataSource.getRepository<ObjectLiteral>(entity);
      return new DeletionListing(deletions, query, deletion, query.deletedSince);
    }
  }
  Object.defineProperty(DeletionsController, 'name', { value: `${entity.name}sController` });
  return DeletionsController;
}

/** A required time, not earlier than the retention of deletions. Property: `Date`. */
function DeletedSinceParam(meaning: string): PropertyDecorator {
  const declared = {
    ...DATE_TIME,
    meaning,
    isRequired: true,
    example: retainedExample,
    read: readRetained,
  };
  return applyDecorators(IsDefined(), Parameter(declared));
}
