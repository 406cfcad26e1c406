import { expect, it } from '@jest/globals';
import { readFields } from '../../packages/schematics/resource/fields.js';
import { namesOf } from '../../packages/schematics/resource/names.js';
import { entity } from '../../packages/schematics/resource/write/entity.js';
import { service } from '../../packages/schematics/resource/write/handlers.js';
import { describe } from '../../packages/schematics/resource/write/resource.js';

it('The title of a search is the name, and codes are found as a whole, wherever they stand', () => {
  const fields = readFields(
    'partID:identifier:words,code:text:exact:words,note:text:words,name:text:sort:words',
    'partID',
  );
  const described = describe({ ...fields, names: namesOf('parts', undefined), targets: new Map() });
  expect(entity(described)).toContain(`derived: { words: ['name', 'partID', 'code', 'note'] }`);
  expect(service(described)).toContain(`containsWords(words, ['partID', 'code'])`);
});
