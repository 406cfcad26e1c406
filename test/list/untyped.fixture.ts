import { Controller, Get, Module, Query } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { type Listing, ListModule, listOf } from '@catalogue/server';
import { Brand } from '../../src/brands/brand.entity.js';
import type { ListBrandsDto } from '../../src/brands/list-brands.dto.js';

/** A controller whose query class is imported as a type, so that it is not there at run time. */
@Controller('test_untyped')
class UntypedController {
  constructor(@InjectRepository(Brand) private readonly brands: Repository<Brand>) {}

  @Get()
  list(@Query() query: ListBrandsDto): Listing {
    return listOf(this.brands, query);
  }
}

@Module({ imports: [ListModule.forFeature(Brand)], controllers: [UntypedController] })
export class UntypedModule {}
