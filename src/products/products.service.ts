import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import {
  containsWords,
  having,
  type Listing,
  listOf,
  type ObjectLookup,
  objectOf,
  within,
} from '@catalogue/server';
import { Category } from '../categories/category.entity.js';
import { Variant } from '../variants/variant.entity.js';
import { Product } from './product.entity.js';
import type { GetProductDto, ListProductsDto } from './list-products.dto.js';

@Injectable()
export class ProductsService {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  list(query: ListProductsDto): Listing {
    return listOf(this.products, query, {
      within: (categories) => ({ categoryID: within(Category, categories) }),
      variant: (name) => ({ productID: having(Variant, { name }) }),
      q: (words) => ({ words: containsWords(words, ['productID', 'refID']) }),
    });
  }

  get(productID: string, query: GetProductDto): ObjectLookup {
    return objectOf(this.products, productID, query);
  }
}
