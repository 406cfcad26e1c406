import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import * as server from '@catalogue/server';
import * as testing from '@catalogue/server/testing';

/** Every value that a project may import. A name that is added or removed is in the changelog. */
const API = [
  ...['run', 'createDataSource', 'Settings'],
  ...['Resource', 'Meaning', 'NaturalOrder', 'identifierColumn', 'nameColumn', 'timeColumn'],
  'checkWithoutObjects',
  ...['ListModule', 'ListReader', 'listOf', 'objectOf', 'Returns'],
  ...['ListQueryDto', 'ObjectQueryDto', 'CredentialsQueryDto', 'QueryOf', 'children'],
  ...['containsWords', 'having', 'related', 'within'],
  ...[
    'BigintParam',
    'BigintsParam',
    'BooleanParam',
    'CurrenciesParam',
    'DateParam',
    'DateTimeParam',
  ],
  ...['DecimalParam', 'EnumParam', 'EnumsParam', 'IdentifierParam', 'IdentifiersParam'],
  ...['IntegerParam', 'IntegersParam', 'NumberParam', 'SignedDecimalParam', 'SignedIntegerParam'],
  ...['TextParam', 'TextsParam', 'UuidParam', 'UuidsParam', 'WordsParam'],
];

it('The package exports its public API and nothing else', () => {
  expect(Object.keys(server).sort()).toEqual(API.toSorted());
  expect(Object.keys(testing).sort()).toEqual(['describeList', 'startService']);
});

it('Each export but the parameters is in the README of the package', async () => {
  const readme = await readFile('packages/server/README.md', 'utf8');
  const missing = API.filter((name) => !name.endsWith('Param') && !readme.includes(`\`${name}`));
  expect(missing).toEqual([]);
});
