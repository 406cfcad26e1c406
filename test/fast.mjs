/**
 * `npm run test:fast`: builds without checking types, then runs Jest with the arguments given, or by
 * default with a part of the suite.
 */
import { existsSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from './jest.mjs';
import { transpile } from './transpile.mjs';

/** Two resources' list contract, the engine, the parameters and the document: 26 s on two cores. */
const PART = [
  'brands',
  'clients/fixed-windows',
  'http/conditional',
  'http/connections',
  'http/link',
  'http/malformed',
  'http/page-cache',
  'http/parameters',
  'http/read-limit',
  'list/engine',
  'list/words',
  'openapi/document',
  'products',
  'random',
  'docs/tables',
  'settings',
].map((name) => `test/${name}.spec.ts`);

// Some tests start the build.
async function build() {
  await rm('dist', { recursive: true, force: true });
  await transpile('src', 'dist');
  // The `assets` of nest-cli.json.
  await cp('src/openapi/overview.md', 'dist/openapi/overview.md');
  const scalar = '@scalar/api-reference/dist/browser';
  await cp(join('node_modules', scalar), join('dist', scalar), {
    recursive: true,
    filter: (path) => !path.endsWith('.map'),
  });
}

// Jest does not report a path that does not exist.
const missing = PART.filter((path) => !existsSync(path));
if (missing.length > 0) throw new Error(`test/fast.mjs names ${missing.join(', ')}`);

await build();
const given = process.argv.slice(2);
process.exitCode = await jest(given.length > 0 ? given : ['--runTestsByPath', ...PART]);
