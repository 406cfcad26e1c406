/**
 * `npm run test:fast`: builds without checking types, then runs Jest with the arguments given, or by
 * default with a part of the suite.
 */
import { existsSync } from 'node:fs';
import { build } from './build.mjs';
import { jest } from './jest.mjs';

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

// Jest does not report a path that does not exist.
const missing = PART.filter((path) => !existsSync(path));
if (missing.length > 0) throw new Error(`test/fast.mjs names ${missing.join(', ')}`);

// Some tests start the build.
await build();
const given = process.argv.slice(2);
process.exitCode = await jest(given.length > 0 ? given : ['--runTestsByPath', ...PART]);
