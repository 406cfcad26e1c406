import { Module } from '@nestjs/common';
import { ListModule } from '@catalogue/server';
import { Category } from './category.entity.js';
import { CategoriesController } from './categories.controller.js';
import { CategoriesService } from './categories.service.js';

@Module({
  imports: [ListModule.forFeature(Category)],
  controllers: [CategoriesController],
  providers: [CategoriesService],
})
export class CategoriesModule {}
