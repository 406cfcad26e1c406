import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Any, LessThanOrEqual, MoreThan, MoreThanOrEqual, Repository } from 'typeorm';
import type { Page } from '../http/envelope.js';
import type { Listing } from '../list/serving/listing.js';
import { findObject } from '../list/find-object.js';
import { findPage } from '../list/list-of.js';
import { containsWords } from '../list/words.js';
import { Product } from './product.entity.js';
import type { GetProductDto, ListProductsDto } from './list-products.dto.js';

@Injectable()
export class ProductsService {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  list(query: ListProductsDto): Listing {
    return findPage(this.products, query, {
      productID: (productIDs) => ({ productID: Any(productIDs) }),
      refID: (refIDs) => ({ refID: Any(refIDs) }),
      type: (types) => ({ type: Any(types) }),
      brandID: (brandIDs) => ({ brandID: Any(brandIDs) }),
      categoryID: (categoryIDs) => ({ categoryID: Any(categoryIDs) }),
      q: (words) => ({ words: containsWords(words) }),
      priceMin: (least) => ({ price: MoreThanOrEqual(least) }),
      priceMax: (most) => ({ price: LessThanOrEqual(most) }),
      inStock: (inStock) => ({ stock: inStock ? MoreThan(0) : LessThanOrEqual(0) }),
      updatedSince: (time) => ({ updatedAt: MoreThanOrEqual(time) }),
    });
  }

  get(productID: string, query: GetProductDto): Promise<Page> {
    return findObject(this.products, productID, query);
  }
}
