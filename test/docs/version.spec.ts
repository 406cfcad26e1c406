import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { documents } from './markdown.js';

const PACKAGES = [
  '.',
  'bench',
  'examples/generators',
  'examples/mirror',
  'packages/client',
  'packages/create',
  'packages/embedded-postgres',
  'packages/mcp',
  'packages/server',
  'packages/schematics',
];

const [, version = 'none'] =
  /^## \[(\d\S+)\] - \d{4}-\d\d-\d\d$/m.exec(await readFile('CHANGELOG.md', 'utf8')) ?? [];

describe('The version of the newest entry of the changelog', () => {
  it.each(PACKAGES)('is that of the package in %s', async (folder) => {
    const manifest = JSON.parse(await readFile(`${folder}/package.json`, 'utf8')) as unknown;
    expect(manifest).toMatchObject({ version });
  });

  it.each(['.', 'bench', 'examples/generators', 'examples/mirror', 'packages/mcp'])(
    'is that of the lock in %s',
    async (folder) => {
      const lock = JSON.parse(await readFile(`${folder}/package-lock.json`, 'utf8')) as unknown;
      expect(lock).toMatchObject({ version, packages: { '': { version } } });
    },
  );

  it('is in the name of each package file that a document names', async () => {
    const names = [...(await documents()).values()].flatMap(
      (text) => text.match(/[\w-]+-\d\S*\.tgz/g) ?? [],
    );
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !name.endsWith(`-${version}.tgz`))).toEqual([]);
  });
});
