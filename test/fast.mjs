/**
 * `npm run test:fast`: builds without checking types, then runs Jest with the arguments given, or by
 * default with a part of the suite.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { parse } from 'node:path';
import { build } from './build.mjs';
import { jest } from './jest.mjs';

/**
 * The tests of the resources, and those of what changed since the last commit: of a source, the test of its name in
 * the folder of its name; of a test, itself and what imports it.
 *
 * @returns {string[]} arguments of Jest
 */
export function partOfSuite() {
  const folders = readdirSync('src').map((folder) => `test/${folder}.spec.ts`);
  const changes = [
    'diff HEAD --name-only --relative -z',
    'ls-files --others --exclude-standard -z',
  ].flatMap((command) => String(spawnSync('git', command.split(' ')).stdout).split('\0'));
  const changed = changes.flatMap((path) => {
    const [, folder] = path.split('/');
    return [path, `test/${folder}/${parse(path).name}.spec.ts`];
  });
  const paths = [...folders, ...changed].filter(
    (path) => path.startsWith('test/') && existsSync(path),
  );
  return ['--findRelatedTests', ...new Set(paths)];
}

if (process.argv[1] === import.meta.filename) {
  // Some tests start the build.
  await build();
  const given = process.argv.slice(2);
  process.exitCode = await jest(given.length > 0 ? given : partOfSuite());
}
