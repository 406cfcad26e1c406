import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Page } from '../http/envelope.js';
import type { Listing } from '../list/serving/listing.js';
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
  get(@Param('productID') productID: string, @Query() query: GetProductDto): Promise<Page> {
    return this.products.get(productID, query);
  }
}
