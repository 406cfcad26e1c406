import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Listing, ObjectLookup } from '@catalogue/server';
import { ProductsService } from './products.service.js';
import { GetProductDto, ListProductsDto } from './list-products.dto.js';

@Controller('products')
export class ProductsController {
  constructor(private readonly products: ProductsService) {}

  @Get()
  list(@Query() query: ListProductsDto): Listing {
    return this.products.list(query);
  }

  @Get(':productID')
  get(@Param('productID') productID: string, @Query() query: GetProductDto): ObjectLookup {
    return this.products.get(productID, query);
  }
}
