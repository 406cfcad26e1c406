import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { type Listing, listOf, type ObjectLookup, objectOf } from '@catalogue/server';
import { Brand } from './brand.entity.js';
import type { GetBrandDto, ListBrandsDto } from './list-brands.dto.js';

@Injectable()
export class BrandsService {
  constructor(@InjectRepository(Brand) private readonly brands: Repository<Brand>) {}

  list(query: ListBrandsDto): Listing {
    return listOf(this.brands, query);
  }

  get(brandID: string, query: GetBrandDto): ObjectLookup {
    return objectOf(this.brands, brandID, query);
  }
}
