import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Listing, ObjectLookup } from '@catalogue/server';
import { VariantsService } from './variants.service.js';
import { GetVariantDto, ListVariantsDto } from './list-variants.dto.js';

@Controller('variants')
export class VariantsController {
  constructor(private readonly variants: VariantsService) {}

  @Get()
  list(@Query() query: ListVariantsDto): Listing {
    return this.variants.list(query);
  }

  @Get(':variantID')
  get(@Param('variantID') variantID: string, @Query() query: GetVariantDto): ObjectLookup {
    return this.variants.get(variantID, query);
  }
}
