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

async function write(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `${Math.random()}`);
  }
}

/** The paths that `npm run test:fast` gives to Jest in the folder. */
function part(): string[] {
  const module = pathToFileURL(resolve('test/fast.mjs')).href;
  const program = `import { partOfSuite } from '${module}'; console.log(partOfSuite().slice(1).join('\\n'))`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return output.trim().split('\n');
}

it('is the tests of resources, and of what changed since the last commit', async () => {
  await write('src/shops/shop.entity.ts', 'src/http/link.ts', 'src/http/message.ts');
  await write('test/shops.spec.ts', 'test/http/link.spec.ts', 'test/http/cors.spec.ts');
  await write('test/list-contract.ts');
  const resources = ['test/shops.spec.ts'];
  // Without a repository, too.
  expect(part()).toEqual(resources);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], {
      cwd: folder,
      env: environment,
    });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Begin');
  expect(part()).toEqual(resources);
  await write('src/http/message.ts');
  expect(part()).toEqual(resources);
  await write('src/http/link.ts', 'test/list-contract.ts', 'test/http/new.spec.ts');
  git('add', 'src');
  const changed = ['test/http/link.spec.ts', 'test/list-contract.ts', 'test/http/new.spec.ts'];
  expect(part()).toEqual([...resources, ...changed]);
});
