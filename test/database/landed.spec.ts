import { expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

/**
 * The files that databases have run, each with the beginning of its SHA-256. A migration is added here when it lands, but
 * for those that the generator writes.
 */
const LANDED: Readonly<Record<string, string>> = {
  'packages/server/src/database/engine/1-tables.sql': '67d6353cd901',
  'packages/server/src/database/engine/2-leave-external-tables.sql': '977e5b264e2e',
  'packages/server/src/database/engine/3-former-functions.sql': '25677da80002',
  'packages/server/src/database/engine/4-former-functions.sql': 'eb6c77fb4d3c',
  'packages/server/src/database/engine/5-former-functions.sql': 'e0b77728b68a',
  'packages/server/src/database/engine/6-words-of-all-scripts.sql': '035f9add3d20',
  'src/migrations/1764676800000-baseline.ts': 'aaab16c50955',
  'src/migrations/1795968737994-variants-of-a-name.ts': '5b878f72afba',
  'src/migrations/1795990258264-natural-order-of-names.ts': '54985c92e895',
};

const ENGINE = 'packages/server/src/database/engine';

/** The names of what the generator writes for a resource of a project. */
const GENERATED = /^\d+-(create|remove)-[^/]+\.ts$/;

it('The steps of the engine and the migrations that have landed are as databases have run them', async () => {
  const found: Record<string, string> = {};
  for (const file of Object.keys(LANDED)) {
    const text = await readFile(file, 'utf8').catch(() => '');
    found[file] = createHash('sha256').update(text).digest('hex').slice(0, 12);
  }
  // Undo the change, and write a migration that makes it.
  expect(found).toEqual(LANDED);
  const steps = (await readdir(ENGINE)).map((file) => `${ENGINE}/${file}`);
  const migrations = (await readdir('src/migrations'))
    .filter((file) => !GENERATED.test(file))
    .map((file) => `src/migrations/${file}`);
  expect(Object.keys(LANDED).sort()).toEqual([...steps, ...migrations].sort());
});
