import { Brand } from '../src/brands/brand.entity.js';
import { describeList } from './list/list-contract.js';

describeList(Brand, {
  fields: ['brandID', 'name', 'createdAt', 'updatedAt'],
  sorts: ['brandID', 'name'],
});
