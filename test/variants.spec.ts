import { Variant } from '../src/variants/variant.entity.js';
import { describeList } from '@catalogue/server/testing';
import { AppModule } from '../src/app.module.js';

describeList(Variant, AppModule, {
  // As its checks demand: no price below zero, and none without a currency.
  values: {
    price: (at) => (at % 9 === 0 ? null : ['9.99', '10', '10.0', '1000.5', '0'][at % 5]),
    currency: (at) => (at % 9 === 0 ? null : ['EUR', 'USD', 'GBP'][at % 3]),
  },
  fields: [
    ...['variantID', 'productID', 'name', 'price', 'currency', 'stock'],
    ...['createdAt', 'updatedAt'],
  ],
  sorts: ['variantID', 'name', 'price'],
});
