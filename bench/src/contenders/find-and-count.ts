import 'reflect-metadata';
import { Controller, Get, Injectable, Module, Query, ValidationPipe } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Transform, Type } from 'class-transformer';
import {
  IsArray,
  IsEnum,
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
import { database, serve } from './nest.js';
import { envelope, hasWords, Product } from './product.js';

/** NestJS as its documentation has it: a validated DTO, a repository, `findAndCount`. */
enum ProductType {
  PHYSICAL = 'PHYSICAL',
  DIGITAL = 'DIGITAL',
  SERVICE = 'SERVICE',
}

/** Values separated by commas. */
function Values(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) => String(value).split(','));
}

class ListProductsDto {
  @IsOptional() @Values() @IsEnum(ProductType, { each: true }) type?: ProductType[];
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
  @IsOptional() @Values() @IsArray() fields?: (keyof Product)[];
}

@Injectable()
class ProductsService {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  async list(query: ListProductsDto): Promise<object> {
    const { limit, offset, fields } = query;
    // With a select TypeORM counts the distinct rows of it, which takes many times as long.
    const select = fields && Object.fromEntries(fields.map((field) => [field, true]));
    const [objects, count] = await this.products.findAndCount({
      ...(select && { select }),
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
  imports: [database(), TypeOrmModule.forFeature([Product])],
  controllers: [ProductsController],
  providers: [
    ProductsService,
    { provide: APP_PIPE, useValue: new ValidationPipe({ transform: true, whitelist: true }) },
  ],
})
class FindAndCountModule {}

await serve(FindAndCountModule);
