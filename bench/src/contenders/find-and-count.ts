import 'reflect-metadata';
import { Controller, Get, Injectable, Module, Query, ValidationPipe } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Transform, Type } from 'class-transformer';
import { IsArray, IsEnum, IsInt, IsOptional, Max, Min } from 'class-validator';
import { Repository } from 'typeorm';
import { database, serve } from './nest.js';
import { envelope, Product } from './product.js';

/** NestJS as its documentation has it: a validated DTO, a repository, `findAndCount`. */
enum ProductType {
  PHYSICAL = 'PHYSICAL',
  DIGITAL = 'DIGITAL',
  SERVICE = 'SERVICE',
}

class ListProductsDto {
  @IsOptional() @IsEnum(ProductType) type?: ProductType;
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1000) limit = 50;
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) offset = 0;
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => String(value).split(','))
  @IsArray()
  fields?: (keyof Product)[];
}

@Injectable()
class ProductsService {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  async list({ type, limit, offset, fields }: ListProductsDto): Promise<object> {
    // With a select TypeORM counts the distinct rows of it, which takes many times as long.
    const select = fields && Object.fromEntries(fields.map((field) => [field, true]));
    const [objects, count] = await this.products.findAndCount({
      ...(select && { select }),
      where: type ? { type } : {},
      order: { productID: 'ASC' },
      take: limit,
      skip: offset,
    });
    return envelope(String(count), objects);
  }
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
