import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { type Listing, listOf, type ObjectLookup, objectOf, within } from '@catalogue/server';
import { Category } from './category.entity.js';
import type { GetCategoryDto, ListCategoriesDto } from './list-categories.dto.js';

@Injectable()
export class CategoriesService {
  constructor(@InjectRepository(Category) private readonly categories: Repository<Category>) {}

  list(query: ListCategoriesDto): Listing {
    return listOf(this.categories, query, {
      within: (categories) => ({ categoryID: within(Category, categories) }),
    });
  }

  get(categoryID: string, query: GetCategoryDto): ObjectLookup {
    return objectOf(this.categories, categoryID, query);
  }
}
