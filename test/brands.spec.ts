import { Brand } from '../src/brands/brand.entity.js';
import { describeList } from '@catalogue/server/testing';
import { AppModule } from '../src/app.module.js';

describeList(Brand, AppModule, {
  fields: ['brandID', 'name', 'createdAt', 'updatedAt'],
  sorts: ['brandID', 'name'],
});
