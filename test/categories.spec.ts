import { Category } from '../src/categories/category.entity.js';
import { describeList } from './list/list-contract.js';

describeList(Category, {
  fields: ['categoryID', 'parentID', 'name', 'createdAt', 'updatedAt'],
  sorts: ['categoryID', 'name'],
});
