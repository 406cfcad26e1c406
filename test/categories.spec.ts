import { Category } from '../src/categories/category.entity.js';
import { describeList } from '@catalogue/server/testing';
import { AppModule } from '../src/app.module.js';

describeList(Category, AppModule, {
  fields: ['categoryID', 'parentID', 'name', 'createdAt', 'updatedAt'],
  sorts: ['categoryID', 'name'],
});
