import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  FilterOperator,
  Paginate,
  paginate,
  type Paginated,
  type PaginateQuery,
} from 'nestjs-paginate';
import { Repository } from 'typeorm';
import { database, serve } from './nest.js';
import { FIELDS, Product } from './product.js';

/** nestjs-paginate as its documentation has it. */
@Controller('products')
class ProductsController {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  @Get()
  list(@Paginate() query: PaginateQuery): Promise<Paginated<Product>> {
    return paginate(query, this.products, {
      sortableColumns: ['productID'],
      // Only what stands here can be selected, without it a request's selection is ignored.
      ...(query.select && { select: [...FIELDS] }),
      defaultSortBy: [['productID', 'ASC']],
      filterableColumns: { type: [FilterOperator.EQ] },
      maxLimit: 1000,
    });
  }
}

@Module({
  imports: [database(), TypeOrmModule.forFeature([Product])],
  controllers: [ProductsController],
})
class PaginateModule {}

await serve(PaginateModule);
