import { expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { MigrationInterface } from 'typeorm';
import { migrations } from '../../src/database/migrate.js';

const FOLDER = 'src/database/functions';

/** A migration that creates the functions of files, or replaces them. */
interface Applying extends MigrationInterface {
  readonly applies?: Readonly<Record<string, string>>;
}

/** The digest with which each file was applied last. */
async function appliedDigests(): Promise<Record<string, string>> {
  const instances = (await migrations()).map((migration): Applying => new migration());
  return Object.assign({}, ...instances.map(({ applies = {} }) => applies)) as Record<
    string,
    string
  >;
}

it('Each file of functions is applied by a migration since it changed', async () => {
  const files = (await readdir(FOLDER)).sort();
  const digests = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(`${FOLDER}/${file}`);
      return [file, createHash('sha256').update(text).digest('hex').slice(0, 12)] as const;
    }),
  );
  // For a file that differs, write a migration with `applies` and `applyFunctions`, as the first one has them.
  expect(await appliedDigests()).toEqual(Object.fromEntries(digests));
});
