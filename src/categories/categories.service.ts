import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Any, MoreThanOrEqual, Repository } from 'typeorm';
import type { Page } from '../http/envelope.js';
import type { Listing } from '../list/serving/listing.js';
import { findObject } from '../list/find-object.js';
import { findPage } from '../list/list-of.js';
import { Category } from './category.entity.js';
import type { GetCategoryDto, ListCategoriesDto } from './list-categories.dto.js';

@Injectable()
export class CategoriesService {
  constructor(@InjectRepository(Category) private readonly categories: Repository<Category>) {}

  list(query: ListCategoriesDto): Listing {
    return findPage(this.categories, query, {
      categoryID: (categoryIDs) => ({ categoryID: Any(categoryIDs) }),
      parentID: (parentID) => ({ parentID }),
      name: (name) => ({ name }),
      updatedSince: (time) => ({ updatedAt: MoreThanOrEqual(time) }),
    });
  }

  get(categoryID: string, query: GetCategoryDto): Promise<Page> {
    return findObject(this.categories, categoryID, query);
  }
}
