import { Module } from '@nestjs/common';
import { ListModule } from '../list/index.js';
import { Brand } from './brand.entity.js';
import { BrandsController } from './brands.controller.js';
import { BrandsService } from './brands.service.js';

@Module({
  imports: [ListModule.forFeature(Brand)],
  controllers: [BrandsController],
  providers: [BrandsService],
})
export class BrandsModule {}
