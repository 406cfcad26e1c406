import { expect, it } from '@jest/globals';
import { readFields } from '../../packages/schematics/resource/fields.js';
import { namesOf } from '../../packages/schematics/resource/names.js';
import { entity } from '../../packages/schematics/resource/write/entity.js';
import { service } from '../../packages/schematics/resource/write/handlers.js';
import { describe } from '../../packages/schematics/resource/write/resource.js';

it('The title of a search is the name, and codes are found as a whole, wherever they stand', () => {
  const fields = readFields(
    'partID:identifier:words,code:text:exact:words,name:text:sort:words,note:text:words',
    'partID',
  );
  const described = describe({ ...fields, names: namesOf('parts', undefined), targets: new Map() });
  expect(entity(described)).toContain(`derived: { words: ['name', 'code', 'note', 'partID'] }`);
  expect(service(described)).toContain(`containsWords(words, ['partID', 'code'])`);
});
