import { expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

/**
 * The files that databases have run, each with the beginning of its SHA-256. A migration is added here when it lands, but
 * for those that the generator writes.
 */
const LANDED: Readonly<Record<string, string>> = {
  'baseline/brands.sql': 'bd77e201ec4a',
  'baseline/categories.sql': '7df0eed0b576',
  'baseline/clients.sql': '156ce8aa47dd',
  'baseline/engine.sql': '9314724cf9b1',
  'baseline/products.sql': 'eb6d5587c5a8',
  'baseline/variants.sql': '0fb7471e09f4',
  'migrations/1764676800000-baseline.ts': 'b94dd16fa9f9',
  'migrations/1764676800001-known-baseline.ts': 'b83fa06dcfd7',
  'migrations/1795864500000-install-for-owner.ts': '39d3b0be1d29',
  'migrations/1795886100000-leave-external-tables.ts': 'be3a1ceb323f',
  'migrations/1795890000000-describe-tallies.ts': '5f402276ad93',
};

/** The names of what the generator writes for a resource of a project. */
const GENERATED = /^\d+-(create|remove)-[^/]+\.ts$/;

it('The baseline and the migrations that have landed are as databases have run them', async () => {
  const found: Record<string, string> = {};
  for (const file of Object.keys(LANDED)) {
    const text = await readFile(`src/database/${file}`, 'utf8').catch(() => '');
    found[file] = createHash('sha256').update(text).digest('hex').slice(0, 12);
  }
  // Undo the change, and write a migration that makes it.
  expect(found).toEqual(LANDED);
  const baseline = (await readdir('src/database/baseline')).map((file) => `baseline/${file}`);
  const migrations = (await readdir('src/database/migrations'))
    .filter((file) => !GENERATED.test(file))
    .map((file) => `migrations/${file}`);
  expect(Object.keys(LANDED).sort()).toEqual([...baseline, ...migrations].sort());
});
