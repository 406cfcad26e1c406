import { Module } from '@nestjs/common';
import { ListModule } from '@catalogue/server';
import { Brand } from './brand.entity.js';
import { BrandsController } from './brands.controller.js';
import { BrandsService } from './brands.service.js';

@Module({
  imports: [ListModule.forFeature(Brand)],
  controllers: [BrandsController],
  providers: [BrandsService],
})
export class BrandsModule {}
