import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DeletionsModule } from '../list/deletions/deletions.module.js';
import { Product } from './product.entity.js';
import { ProductsController } from './products.controller.js';
import { ProductsService } from './products.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Product]), DeletionsModule.of(Product)],
  controllers: [ProductsController],
  providers: [ProductsService],
})
export class ProductsModule {}
