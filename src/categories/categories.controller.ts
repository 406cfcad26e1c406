import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Listing, ObjectLookup } from '@catalogue/server';
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
  get(@Param('categoryID') categoryID: string, @Query() query: GetCategoryDto): ObjectLookup {
    return this.categories.get(categoryID, query);
  }
}
