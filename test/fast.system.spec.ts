import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

let folder: string;

/** Without the repository and the settings of who runs the tests, as a hook of Git has them. */
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))),
  GIT_CONFIG_GLOBAL: '/dev/null',
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalogue-fast-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** The specs that `npm run test:fast` runs in the folder. */
function part(): string[] {
  const module = pathToFileURL(resolve('test/fast.mjs')).href;
  const program = `import { partOfSuite } from '${module}'; console.log(JSON.stringify(partOfSuite()))`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return JSON.parse(output) as string[];
}

it('is the specs nearest to what changed since the last commit', async () => {
  await write({
    'src/http/link.ts': `export const link = 1;`,
    'src/http/server.ts': `import { link } from './link.js';`,
    'src/database/tally.sql': 'SELECT 1',
    'test/service.ts': `import '../src/http/server.js';`,
    'test/http/cors.spec.ts': `import { x } from '../service.js';`,
    'test/http/direct.spec.ts': `import { link } from '../../src/http/link.js';`,
    'test/list/page.spec.ts': `import { x } from '../service.js';`,
    'test/database/functions.spec.ts': `const folder = 'src/database';`,
    'test/docs/names.spec.ts': `const names = ['guide.md'];`,
    'docs/guide.md': '# Guide',
  });
  // Without a repository, nothing is known to have changed.
  expect(part()).toEqual([]);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], {
      cwd: folder,
      env: environment,
    });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Begin');
  expect(part()).toEqual([]);
  const changedBy = async (path: string): Promise<string[]> => {
    await write({ [path]: `// ${path}` });
    const found = part();
    git('checkout', '--quiet', '.');
    return found;
  };
  // Few imports away come first, and among those what has the same words in its path.
  const ofLink = ['test/http/direct.spec.ts', 'test/http/cors.spec.ts', 'test/list/page.spec.ts'];
  expect(await changedBy('src/http/link.ts')).toEqual(ofLink);
  expect(await changedBy('test/list/page.spec.ts')).toEqual(['test/list/page.spec.ts']);
  expect(await changedBy('src/database/tally.sql')).toEqual(['test/database/functions.spec.ts']);
  expect(await changedBy('docs/guide.md')).toEqual(['test/docs/names.spec.ts']);
  await write({ 'test/http/new.spec.ts': '' });
  expect(part()).toEqual(['test/http/new.spec.ts']);
  // What still imports a renamed file is near to it, and a renamed spec is one spec.
  git('mv', 'src/http/link.ts', 'src/http/address.ts');
  git('mv', 'test/docs/names.spec.ts', 'test/docs/renamed.spec.ts');
  expect(part().sort()).toEqual(
    [...ofLink, 'test/docs/renamed.spec.ts', 'test/http/new.spec.ts'].sort(),
  );
  git('reset', '--quiet', '--hard');
});

it('is at most eight specs for each changed file', async () => {
  const names = Array.from({ length: 20 }, (_, at) => `test/http/many-${at}.spec.ts`);
  await write(Object.fromEntries(names.map((name) => [name, `import '../../src/http/link.js';`])));
  execFileSync('git', ['add', '.'], { cwd: folder, env: environment });
  execFileSync(
    'git',
    ['-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '-q', '-m', 'Add'],
    { cwd: folder, env: environment },
  );
  await write({ 'src/http/link.ts': '' });
  expect(part()).toHaveLength(8);
});
