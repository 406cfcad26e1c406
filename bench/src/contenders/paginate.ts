import 'reflect-metadata';
import { Controller, Get, Module, Query } from '@nestjs/common';
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
import { FIELDS, hasWords, Product } from './product.js';

/** nestjs-paginate as its documentation has it. */
@Controller('products')
class ProductsController {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  @Get()
  list(@Paginate() query: PaginateQuery, @Query('q') q?: string): Promise<Paginated<Product>> {
    return paginate(query, this.products, {
      sortableColumns: ['productID', 'name', 'price'],
      nullSort: 'last',
      // Its own search is ILIKE, which no index serves and which finds something else.
      ...(q !== undefined && { where: { words: hasWords(q) } }),
      // Only what stands here can be selected, without it a request's selection is ignored.
      ...(query.select && { select: [...FIELDS] }),
      defaultSortBy: [['productID', 'ASC']],
      filterableColumns: {
        type: [FilterOperator.IN],
        brandID: [FilterOperator.IN],
        categoryID: [FilterOperator.EQ],
        price: [FilterOperator.GTE, FilterOperator.LTE],
        stock: [FilterOperator.GT],
      },
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
