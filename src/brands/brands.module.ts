import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DeletionsModule } from '../list/deletions/deletions.module.js';
import { Brand } from './brand.entity.js';
import { BrandsController } from './brands.controller.js';
import { BrandsService } from './brands.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Brand]), DeletionsModule.of(Brand)],
  controllers: [BrandsController],
  providers: [BrandsService],
})
export class BrandsModule {}
