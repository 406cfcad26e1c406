import 'reflect-metadata';
import { Controller, Get, Injectable, Module, Query, ValidationPipe } from '@nestjs/common';
import { APP_PIPE, NestFactory } from '@nestjs/core';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Transform, Type } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsISO8601,
  IsNumberString,
  IsOptional,
  IsString,
  Max,
  Min,
} from 'class-validator';
import {
  And,
  type FindOptionsOrder,
  type FindOptionsWhere,
  In,
  LessThanOrEqual,
  MoreThan,
  MoreThanOrEqual,
  Repository,
} from 'typeorm';
import { TYPES } from '../storefront-data.js';
import { envelope, hasWords, Product } from './product.js';

/** NestJS as its documentation has it: a validated DTO, a repository, `findAndCount`. */
/** Values separated by commas. */
function Values(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) => String(value).split(','));
}

class ListProductsDto {
  @IsOptional() @Values() @IsIn(TYPES, { each: true }) type?: string[];
  @IsOptional() @Values() @IsString({ each: true }) brandID?: string[];
  @IsOptional() @IsString() categoryID?: string;
  @IsOptional() @IsNumberString() priceMin?: string;
  @IsOptional() @IsNumberString() priceMax?: string;
  @IsOptional() @IsIn(['true']) inStock?: 'true';
  @IsOptional() @IsString() q?: string;
  @IsOptional() @IsISO8601() updatedSince?: string;
  @IsOptional() @IsIn(['name', 'price', 'updatedAt', '-name', '-price']) sort?: string;
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1000) limit = 50;
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) offset = 0;
}

@Injectable()
class ProductsService {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  async list(query: ListProductsDto): Promise<object> {
    const { limit, offset } = query;
    const [objects, count] = await this.products.findAndCount({
      where: where(query),
      order: order(query),
      take: limit,
      skip: offset,
    });
    return envelope(String(count), objects);
  }
}

function where(query: ListProductsDto): FindOptionsWhere<Product> {
  const { type, brandID, categoryID, priceMin, priceMax, inStock, q, updatedSince } = query;
  const prices = [
    ...(priceMin === undefined ? [] : [MoreThanOrEqual(priceMin)]),
    ...(priceMax === undefined ? [] : [LessThanOrEqual(priceMax)]),
  ];
  return {
    ...(type && { type: In(type) }),
    ...(brandID && { brandID: In(brandID) }),
    ...(categoryID !== undefined && { categoryID }),
    ...(prices.length > 0 && { price: And(...prices) }),
    ...(inStock && { stock: MoreThan(0) }),
    ...(q !== undefined && { words: hasWords(q) }),
    ...(updatedSince !== undefined && { updatedAt: MoreThanOrEqual(new Date(updatedSince)) }),
  };
}

function order({ sort }: ListProductsDto): FindOptionsOrder<Product> {
  if (sort === undefined) return { productID: 'ASC' };
  const direction = sort.startsWith('-') ? 'DESC' : 'ASC';
  return { [sort.replace('-', '')]: { direction, nulls: 'LAST' }, productID: direction };
}

@Controller('products')
class ProductsController {
  constructor(private readonly products: ProductsService) {}

  @Get()
  list(@Query() query: ListProductsDto): Promise<object> {
    return this.products.list(query);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      entities: [Product],
      poolSize: 10,
      installExtensions: false,
    }),
    TypeOrmModule.forFeature([Product]),
  ],
  controllers: [ProductsController],
  providers: [
    ProductsService,
    { provide: APP_PIPE, useValue: new ValidationPipe({ transform: true, whitelist: true }) },
  ],
})
class FindAndCountModule {}

const application = await NestFactory.create(FindAndCountModule, { logger: ['fatal'] });
await application.listen(0, '127.0.0.1');
console.log(await application.getUrl());
