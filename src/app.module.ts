import { Module } from '@nestjs/common';
import { BrandsModule } from './brands/brands.module.js';
import { CategoriesModule } from './categories/categories.module.js';
import { ProductsModule } from './products/products.module.js';
import { VariantsModule } from './variants/variants.module.js';

@Module({
  imports: [
    // One a line, as the generators of Nest add them.
    ProductsModule,
    CategoriesModule,
    BrandsModule,
    VariantsModule,
  ],
})
export class AppModule {}
