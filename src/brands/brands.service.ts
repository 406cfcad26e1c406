import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Any, MoreThanOrEqual, Repository } from 'typeorm';
import type { Page } from '../http/envelope.js';
import type { Listing } from '../list/serving/listing.js';
import { findObject } from '../list/find-object.js';
import { findPage } from '../list/list-of.js';
import { Brand } from './brand.entity.js';
import type { GetBrandDto, ListBrandsDto } from './list-brands.dto.js';

@Injectable()
export class BrandsService {
  constructor(@InjectRepository(Brand) private readonly brands: Repository<Brand>) {}

  list(query: ListBrandsDto): Listing {
    return findPage(this.brands, query, {
      brandID: (brandIDs) => ({ brandID: Any(brandIDs) }),
      name: (name) => ({ name }),
      updatedSince: (time) => ({ updatedAt: MoreThanOrEqual(time) }),
    });
  }

  get(brandID: string, query: GetBrandDto): Promise<Page> {
    return findObject(this.brands, brandID, query);
  }
}
