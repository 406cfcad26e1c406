import { describeList } from './list/list-contract.js';

describeList({
  resource: 'categories',
  identifier: 'categoryID',
  fields: ['categoryID', 'parentID', 'name', 'createdAt', 'updatedAt'],
  sorts: ['categoryID', 'name'],
  includes: { parentID: 'categories' },
  objects: Array.from({ length: 25 }, (_, at) => ({
    categoryID: `c${at}`,
    parentID: at < 3 ? null : `c${at % 3}`,
    name: `Category, ${at % 4}`,
  })),
  example: { categoryID: 'c5', parentID: 'c2', name: 'Category, 1' },
  filters: {
    categoryID: { value: 'c3,c4', keeps: ({ categoryID }) => /^c[34]$/.test(String(categoryID)) },
    within: {
      value: 'c1,c5',
      keeps: ({ categoryID, parentID }) =>
        ['c1', 'c5'].includes(String(categoryID)) || ['c1', 'c5'].includes(String(parentID)),
      bad: 'c1,',
    },
    parentID: {
      value: 'c1',
      keeps: ({ parentID }) => parentID === 'c1',
      bad: 'x'.repeat(101),
    },
    parentIDExists: { value: 'false', keeps: ({ parentID }) => parentID === null, bad: 'no' },
    name: { value: 'Category, 2', keeps: ({ name }) => name === 'Category, 2' },
  },
});
