import { HostTree } from '@angular-devkit/schematics';
import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { existingResources } from '../../packages/schematics/resource/targets.js';

it('A resource is found whichever quotes the formatter of its project writes', async () => {
  const text = await readFile('src/products/product.entity.ts', 'utf8');
  const [single, double] = [text, text.replaceAll("'", '"')].map((each) => {
    const tree = new HostTree();
    tree.create('/src/products/product.entity.ts', each);
    return existingResources(tree);
  });
  expect(single?.get('products')).toMatchObject({ entity: 'Product', enums: ['product_type'] });
  expect(double).toEqual(single);
});
