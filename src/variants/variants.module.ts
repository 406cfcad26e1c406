import { Module } from '@nestjs/common';
import { ListModule } from '@catalogue/server';
import { Variant } from './variant.entity.js';
import { VariantsController } from './variants.controller.js';
import { VariantsService } from './variants.service.js';

@Module({
  imports: [ListModule.forFeature(Variant)],
  controllers: [VariantsController],
  providers: [VariantsService],
})
export class VariantsModule {}
