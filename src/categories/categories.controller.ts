import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Page } from '../http/envelope.js';
import type { Listing } from '../list/serving/listing.js';
import { CategoriesService } from './categories.service.js';
import { GetCategoryDto, ListCategoriesDto } from './list-categories.dto.js';

@Controller('categories')
export class CategoriesController {
  constructor(private readonly categories: CategoriesService) {}

  @Get()
  list(@Query() query: ListCategoriesDto): Listing {
    return this.categories.list(query);
  }

  @Get(':categoryID')
  get(@Param('categoryID') categoryID: string, @Query() query: GetCategoryDto): Promise<Page> {
    return this.categories.get(categoryID, query);
  }
}
