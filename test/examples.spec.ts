import { beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { sharedService } from './service.js';

const service = sharedService();

beforeAll(async () => {
  await service.load(
    'brands',
    Array.from({ length: 45 }, (_, at) => ({ brandID: `b${at + 100}`, name: `Brand ${at}` })),
  );
  await service.load('categories', [{ categoryID: 'c1', name: 'C' }]);
  await service.load('products', [
    { productID: 'p1', type: 'PHYSICAL', name: 'A', price: '1.50', currency: 'EUR' },
    { productID: 'p2', type: 'DIGITAL' },
    { productID: 'p3', type: 'SERVICE' },
  ]);
});

it('The example for curl does what it says', async () => {
  const env = {
    PATH: process.env.PATH,
    CATALOGUE_URL: `http://127.0.0.1:${service.port}`,
    CLIENT_ID: service.clientID,
    ACCESS_TOKEN: service.token,
  };
  const { stdout } = await promisify(execFile)(resolve('examples/curl.sh'), { env });
  expect(stdout).toContain(
    '"objects":[{"productID":"p1","name":"A"},{"productID":"p2","name":null}]',
  );
  expect(stdout).toContain('The parameter colour must not be present in this request');
  expect(stdout).toContain('{"brandID":"b139"}]}}');
  expect(stdout).toContain('categoryID,parentID,name,createdAt,updatedAt\r\nc1,,C,');
});
