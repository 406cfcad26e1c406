import { Module } from '@nestjs/common';
import { ListModule } from '@catalogue/server';
import { Product } from './product.entity.js';
import { ProductsController } from './products.controller.js';
import { ProductsService } from './products.service.js';

@Module({
  imports: [ListModule.forFeature(Product)],
  controllers: [ProductsController],
  providers: [ProductsService],
})
export class ProductsModule {}
