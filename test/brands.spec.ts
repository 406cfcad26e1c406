import { describeList } from './list/list-contract.js';

describeList({
  resource: 'brands',
  identifier: 'brandID',
  fields: ['brandID', 'name', 'createdAt', 'updatedAt'],
  sorts: ['brandID', 'name'],
  objects: Array.from({ length: 25 }, (_, at) => ({
    brandID: `b${at}`,
    name: `Käse & Söhne ${at % 4}`,
  })),
  example: { brandID: 'b5', name: 'Käse & Söhne 1' },
});
