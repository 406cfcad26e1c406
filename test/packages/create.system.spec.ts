import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { BARE_ENVIRONMENT, type CommandResult } from '../cli/catalogue.js';
import { fencesOf } from '../docs/markdown.js';
import { until } from '../until.js';

const ROOT = resolve('.');

/** The resources of the files that the tests give to `--from`. */
const FILES = {
  'Order Items.csv': 'id,title,price\n1,Bolt,2.50\n2,Nut,1.20\n',
  'repeated.csv': 'a,b\nx,y\nx,y\n',
};

let scratch: string;
let shop: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'catalogue-create-'));
  // For root, the embedded server runs as another user, which needs access.
  await chmod(scratch, 0o755);
  await symlink(join(ROOT, 'node_modules'), join(scratch, 'node_modules'));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(scratch, name), text);
  await mkdir(join(scratch, 'empty'));
  shop = join(scratch, 'my shop');
  const created = await create('my shop');
  expect(created).toMatchObject({ status: 0, stderr: '' });
  expect(created.stdout).toContain("\n  cd 'my shop'\n  npm install\n  npm start\n");
  await unpack(join(shop, 'vendor'), join(shop, 'node_modules'));
  await symlink(join(ROOT, 'node_modules/jest'), join(shop, 'node_modules/jest'));
});
afterAll(() => rm(scratch, { recursive: true }));

/** Runs a program as in a terminal whose folder is the project, or another one. */
async function run(command: string, args: string[], folder = shop): Promise<CommandResult> {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...BARE_ENVIRONMENT, ...ENVIRONMENT, HOME: process.env.HOME },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  return {
    status,
    stdout: stripVTControlCharacters(stdout),
    stderr: stripVTControlCharacters(stderr),
  };
}

const ENVIRONMENT = {
  TEST_DATABASE_URL: process.env.TEST_SERVER_URL,
  ...{ PORT: '0', ADMIN_PORT: '0', HOST: '127.0.0.1' },
};

const create = (...args: string[]) =>
  run(process.execPath, [join(ROOT, 'packages/create/index.js'), ...args], scratch);

/** Unpacks the packages of a folder as `npm install` does. */
async function unpack(from: string, to: string): Promise<void> {
  for (const file of await readdir(from)) {
    await run('tar', ['xzf', file], from);
    const path = join(from, 'package/package.json');
    const { name } = JSON.parse(await readFile(path, 'utf8')) as { name: string };
    await cp(join(from, 'package'), join(to, name), { recursive: true });
    await rm(join(from, 'package'), { recursive: true });
  }
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !/^(deploy|node_modules|vendor|dist)\//.test(path))
    .map((path) => path.replace(/\d{13}/, '<time>'))
    .sort();
}

const OF_EVERY_PROJECT = [
  ...['.dockerignore', '.editorconfig', '.env.example', '.gitignore', '.prettierrc', '.swcrc'],
  ...['AGENTS.md', 'Dockerfile', 'README.md', 'docker-compose.yml', 'nest-cli.json'],
  ...['package.json', 'src/app.module.ts', 'src/data-source.ts', 'src/main.ts'],
  ...['tsconfig.build.json', 'tsconfig.json'],
];

it('A project has the files of a resource besides a few, and nothing of the template to fill in', async () => {
  const files = await filesOf(shop);
  expect(files).toEqual(
    [
      ...OF_EVERY_PROJECT,
      'demo/products.csv',
      'src/migrations/<time>-create-products.ts',
      'src/products/list-products.dto.ts',
      'src/products/product.entity.ts',
      ...['controller', 'module', 'service'].map((part) => `src/products/products.${part}.ts`),
      'test/products.spec.ts',
    ].sort(),
  );
  for (const file of OF_EVERY_PROJECT)
    expect(await readFile(join(shop, file), 'utf8')).not.toContain('{{');
  expect(JSON.parse(await readFile(join(shop, 'package.json'), 'utf8'))).toMatchObject({
    name: 'my-shop',
    dependencies: { '@catalogue/server': 'file:vendor/catalogue-server-1.0.0.tgz' },
  });
});

it('What is packed is what a project runs: no test, no source', async () => {
  const packed = await readdir(join(shop, 'node_modules/@catalogue/server'), { recursive: true });
  expect(
    packed.filter(
      (path) =>
        !path.startsWith('template') && /\.spec\.|\.fixture\.|^src|(?<!\.d)\.ts$/.test(path),
    ),
  ).toEqual([]);
});

it('npm start answers with the ten rows of the demonstration', async () => {
  const child = spawn('npm', ['start'], {
    cwd: shop,
    env: { ...BARE_ENVIRONMENT, ...ENVIRONMENT, HOME: process.env.HOME },
    detached: true,
  });
  try {
    let output = '';
    const address = await new Promise<string>((found, failed) => {
      const read = (chunk: Buffer) => {
        output += chunk.toString();
        const [, listens] = /listens on (http:\/\/[\d.:]+)/.exec(output) ?? [];
        if (listens) found(listens);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', () => {
        failed(new Error(output));
      });
    });
    const headers = { 'X-Client-ID': 'demo', Authorization: 'Bearer demo-token' };
    const answer = await fetch(`${address}/products`, { headers });
    const { response_data: data } = (await answer.json()) as {
      response_data: { count: string; objects: unknown[] };
    };
    expect({ count: data.count, objects: data.objects.length }).toEqual({
      count: '10',
      objects: 10,
    });
  } finally {
    const ended = once(child, 'exit');
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await ended;
  }
});

it('Its test is green', async () => {
  const { status, stderr } = await run('npm', ['test']);
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(stderr).toMatch(/Tests: +\d+ passed, \d+ total/);
});

it('The commands of AGENTS.md add a resource, which is tested, and whose types and format are right', async () => {
  const text = await readFile(join(shop, 'AGENTS.md'), 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
  const fences = fencesOf(text).fences.filter(({ heading }) => heading === 'Add a resource');
  const commands = fences.map((fence) => fence.text).join('');
  expect(commands).toContain('npm run resource');
  for (const command of commands.trimEnd().split('\n')) {
    const { status, stderr } = await run('sh', ['-c', command]);
    expect({ command, status, stderr }).toMatchObject({ status: 0 });
  }
  expect(existsSync(join(shop, 'src/suppliers/suppliers.service.ts'))).toBe(true);
  expect(existsSync(join(shop, 'test/suppliers.spec.ts'))).toBe(true);
});

it('Every other command of AGENTS.md is one of the project', async () => {
  const text = await readFile(join(shop, 'AGENTS.md'), 'utf8');
  const { scripts } = JSON.parse(await readFile(join(shop, 'package.json'), 'utf8'));
  const names = [...text.matchAll(/npm (?:run )?(?:-s )?([a-z]+)/g)].map(([, name = '']) => name);
  expect(names).toEqual(
    expect.arrayContaining(['resource', 'migration', 'catalogue', 'start', 'test']),
  );
  expect(names.filter((name) => !(name in scripts))).toEqual([]);
  const { stdout } = await run('npm', ['run', '-s', 'catalogue', '--', '--help']);
  for (const [, name] of text.matchAll(/catalogue -- (\w+)/g))
    expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
  expect(await run('npm', ['run', '-s', 'catalogue', '--', 'verify'])).toMatchObject({ status: 0 });
});

it('catalogue mcp says in one line what to install, and writes nothing else', async () => {
  expect(await run('npm', ['run', '-s', 'catalogue', '--', 'mcp'])).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^catalogue: The command needs @catalogue\/mcp: install .*\n$/),
  });
});

describe('Wrong input is one line, and leaves nothing', () => {
  it.each([
    [
      [],
      'Usage: create-catalogue <folder> [--from <file>], or create-catalogue <project> --upgrade',
    ],
    [['my shop'], 'my shop is not an empty folder: name another one'],
    [['repeated.csv'], 'repeated.csv is not an empty folder: name another one'],
    [['a/new', '--from', 'missing.csv'], 'There is no file missing.csv'],
    [['empty', '--upgrade'], 'empty has no folder vendor'],
    [['a/new', '--from', '.'], 'There is no file .'],
    [
      ['empty', '--from', 'repeated.csv'],
      expect.stringMatching(/^A resource is named in the plural/),
    ],
    [['a/new', '--form', 'x.csv'], expect.stringMatching(/^Unknown option '--form'/)],
  ])('%j', async (args, message) => {
    const before = await readdir(scratch);
    const { status, stdout, stderr } = await create(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    const [line, ...rest] = stderr.trimEnd().split('\n');
    expect(line?.replace('create-catalogue: ', '')).toEqual(message);
    expect(rest).toEqual([]);
    expect(await readdir(scratch)).toEqual(before);
    expect(await readdir(join(scratch, 'empty'))).toEqual([]);
  });

  it('Ctrl-C', async () => {
    const before = await readdir(scratch);
    const program = join(ROOT, 'packages/create/index.js');
    const child = spawn(process.execPath, [program, 'a/new'], {
      cwd: scratch,
      // Without the folder in which npm was started.
      env: { ...BARE_ENVIRONMENT, HOME: process.env.HOME },
      detached: true,
    });
    await until(() => existsSync(join(scratch, 'a/new/vendor')), 60_000);
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await once(child, 'exit');
    expect(await readdir(scratch)).toEqual(before);
  });
});

it('As a package of its own, it makes the resource of a file', async () => {
  const packages = join(scratch, 'packages');
  await mkdir(packages);
  const args = ['pack', '--silent', `--pack-destination=${packages}`];
  expect(await run('npm', args, join(ROOT, 'packages/create'))).toMatchObject({ status: 0 });
  await unpack(packages, join(packages, 'node_modules'));
  const program = join(packages, 'node_modules/create-catalogue/index.js');
  const { status, stdout } = await run(
    process.execPath,
    [program, 'orders', '--from', 'Order Items.csv'],
    scratch,
  );
  expect(status).toBe(0);
  expect(stdout).toContain('catalogue -- import order_items ');
  const files = await filesOf(join(scratch, 'orders'));
  expect(files.filter((path) => !path.startsWith('src/order-items/'))).toEqual(
    [
      ...OF_EVERY_PROJECT,
      'src/migrations/<time>-create-order-items.ts',
      'test/order-items.spec.ts',
    ].sort(),
  );
  expect(existsSync(join(ROOT, 'packages/create/shared'))).toBe(false);
});

it('nest add makes an empty project of nest new a catalogue, and refuses another one', async () => {
  const nest = join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js');
  const options = ['--skip-install', '--skip-git', '--package-manager', 'npm', '--language', 'ts'];
  await run(process.execPath, [nest, 'new', 'fresh', ...options], scratch);
  const fresh = join(scratch, 'fresh');
  await mkdir(join(fresh, 'node_modules'));
  await symlink(join(shop, 'node_modules/@catalogue'), join(fresh, 'node_modules/@catalogue'));
  const add = () =>
    run(process.execPath, [nest, 'add', '--skip-install', '@catalogue/server'], fresh);
  expect(await add()).toMatchObject({ status: 0, stderr: '' });
  expect((await filesOf(fresh)).filter((path) => path.startsWith('src/'))).toEqual([
    ...['src/app.module.ts', 'src/data-source.ts', 'src/main.ts'],
  ]);
  expect(await readFile(join(fresh, 'AGENTS.md'), 'utf8')).not.toContain('{{');
  expect(await run(process.execPath, [nest, 'build'], fresh)).toMatchObject({ status: 0 });
  expect(await run('npm', ['run', '-s', 'catalogue', '--', '--help'], fresh)).toMatchObject({
    stdout: expect.stringContaining('migrate'),
  });
  await writeFile(join(fresh, 'src/more.ts'), '');
  expect((await add()).stderr).toContain('not in one with src/more.ts');
});

it('The template has the versions of this repository', async () => {
  const [template, root, server] = await Promise.all(
    ['packages/server/template', '.', 'packages/server'].map(async (folder) => {
      const text = await readFile(join(folder, 'package.json'), 'utf8');
      return JSON.parse(text) as Manifest;
    }),
  );
  const [versions, wanted] = [template, root].map((manifest) => ({
    ...manifest?.dependencies,
    ...manifest?.devDependencies,
  }));
  expect(versions).toEqual(
    Object.fromEntries(Object.keys(versions ?? {}).map((name) => [name, wanted?.[name]])),
  );
  expect(template?.optionalDependencies).toEqual(server?.optionalDependencies);
  expect(template?.engines).toEqual(root?.engines);
  expect(Object.keys(versions ?? {})).toEqual(
    expect.arrayContaining(Object.keys(server?.peerDependencies ?? {})),
  );
});

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  engines?: Record<string, string>;
}
