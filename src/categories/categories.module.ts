import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DeletionsModule } from '../list/deletions/deletions.module.js';
import { Category } from './category.entity.js';
import { CategoriesController } from './categories.controller.js';
import { CategoriesService } from './categories.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Category]), DeletionsModule.of(Category)],
  controllers: [CategoriesController],
  providers: [CategoriesService],
})
export class CategoriesModule {}
