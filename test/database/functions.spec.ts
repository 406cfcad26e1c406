import { expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { migrations } from '../../src/database/migrate.js';
import { type AppliesFunctions, REMOVED } from '../../src/database/sql-files.js';

const FOLDER = 'src/database/functions';

/** The digest with which each file was applied last. */
async function appliedDigests(): Promise<Record<string, string>> {
  const instances = (await migrations()).map(
    (migration) => new migration() as Partial<AppliesFunctions>,
  );
  return Object.assign({}, ...instances.map(({ applies = {} }) => applies)) as Record<
    string,
    string
  >;
}

it('Each file of functions is applied by a migration since it changed', async () => {
  const applied = await appliedDigests();
  const files = await readdir(FOLDER);
  const changed: string[] = [];
  for (const file of files) {
    const text = await readFile(`${FOLDER}/${file}`);
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
    if (applied[file] !== digest) changed.push(`a migration must apply '${file}': '${digest}'`);
  }
  expect(changed).toEqual([]);
  expect(Object.keys(applied).sort()).toEqual([...files, ...REMOVED].sort());
});
