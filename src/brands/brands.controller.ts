import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Listing, ObjectLookup } from '@catalogue/server';
import { BrandsService } from './brands.service.js';
import { GetBrandDto, ListBrandsDto } from './list-brands.dto.js';

@Controller('brands')
export class BrandsController {
  constructor(private readonly brands: BrandsService) {}

  @Get()
  list(@Query() query: ListBrandsDto): Listing {
    return this.brands.list(query);
  }

  @Get(':brandID')
  get(@Param('brandID') brandID: string, @Query() query: GetBrandDto): ObjectLookup {
    return this.brands.get(brandID, query);
  }
}
