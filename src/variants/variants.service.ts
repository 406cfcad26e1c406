import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { type Listing, listOf, type ObjectLookup, objectOf } from '@catalogue/server';
import { Variant } from './variant.entity.js';
import type { GetVariantDto, ListVariantsDto } from './list-variants.dto.js';

@Injectable()
export class VariantsService {
  constructor(@InjectRepository(Variant) private readonly variants: Repository<Variant>) {}

  list(query: ListVariantsDto): Listing {
    return listOf(this.variants, query);
  }

  get(variantID: string, query: GetVariantDto): ObjectLookup {
    return objectOf(this.variants, variantID, query);
  }
}
