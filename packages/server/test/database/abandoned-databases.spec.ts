import { expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { createDatabase, queryOn } from '#server/testing/database.js';

it('A database for a test drops those of killed processes, and none that is in use', async () => {
  const used = await createDatabase({ migrated: false });
  const nameOf = ({ url }: { url: string }): string => new URL(url).pathname.slice(1);
  const left = nameOf(used).replace(/[^_]+$/, randomBytes(6).toString('hex'));
  await queryOn(used.url, `CREATE DATABASE ${left}`);
  const both = await Promise.all([1, 2].map(() => createDatabase({ migrated: false })));
  const found = await queryOn<{ datname: string }>(
    used.url,
    `SELECT datname FROM pg_database WHERE datname IN ('${[left, ...[used, ...both].map(nameOf)].join("', '")}')`,
  );
  expect(found.map(({ datname }) => datname).sort()).toEqual([used, ...both].map(nameOf).sort());
  for (const database of [used, ...both]) await database.drop();
});
