import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { BARE_ENVIRONMENT, type CommandResult } from './cli/catalogue.js';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';
import { plainLines } from './plain-lines.js';
import { ScratchCopy } from './schematics/scratch-copy.js';
import { until } from './until.js';

let copy: ScratchCopy;
let database: TestDatabase;
let scripts: Readonly<Record<string, string>>;

beforeAll(async () => {
  [copy, database] = await Promise.all([ScratchCopy.make(), createDatabase()]);
  ({ scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: typeof scripts });
});
afterAll(async () => {
  await copy.remove();
  await database.drop();
});

/** Changes a source of the copy, which must be there. */
async function change(source: string): Promise<void> {
  const path = join(copy.folder, source);
  await writeFile(path, `${await readFile(path, 'utf8')}\n// changed\n`);
}

interface Script {
  readonly child: ChildProcess;
  readonly output: () => string;
}

function run(name: string, ...args: string[]): Script {
  const child = spawn('npm', ['run', name, '--', ...args], {
    cwd: copy.folder,
    env: {
      ...BARE_ENVIRONMENT,
      HOME: process.env.HOME,
      DATABASE_URL: database.url,
      ...{ PORT: '0', ADMIN_PORT: '0', HOST: '127.0.0.1' },
    },
    // As a terminal does it, so that Ctrl-C reaches all of its processes.
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return { child, output: () => plainLines(output) };
}

const starts = ({ output }: Script): number => output().split('Catalogue listens on').length - 1;

async function interrupt({ child }: Script): Promise<void> {
  const ended = once(child, 'exit');
  process.kill(-(child.pid ?? 0), 'SIGINT');
  await ended;
}

it('start:debug opens the debugger, and builds and starts again when a source changes; start:dev without it', async () => {
  expect(scripts['start:dev']).toBe(scripts['start:debug']?.replace(' --debug', ''));
  const script = run('start:debug');
  try {
    await until(() => starts(script) === 1, 120_000);
    // The port of the debugger is a fixed one, which another program may have.
    expect(script.output()).toMatch(
      /Debugger listening on ws:\/\/|Starting inspector on \S+ failed: address already in use/,
    );
    await change('src/main.ts');
    await until(() => starts(script) === 2, 60_000);
  } finally {
    await interrupt(script);
  }
});

it('start:prod starts what was built', async () => {
  const script = run('start:prod');
  try {
    await until(() => starts(script) === 1, 60_000);
  } finally {
    await interrupt(script);
  }
});

it('build lets commands run while it builds, and leaves no file without a source', async () => {
  const left = join(copy.folder, 'dist/left.entity.js');
  await writeFile(left, '');
  const build = async (): Promise<void> => {
    // A changed file that commands load first, and one that they load late.
    for (const file of ['command-error.js', 'import/export-rows.ts'])
      await change(`packages/server/src/${file}`);
    const { child, output } = run('build');
    const [status] = (await once(child, 'exit')) as [number];
    expect({ status, output: output() }).toMatchObject({ status: 0 });
  };
  const built = new AbortController();
  const builds = build()
    .then(build)
    .finally(() => {
      built.abort();
    });
  const results: CommandResult[] = [];
  const command = ['dist/main.js', 'export', 'brands'];
  const environment = { DATABASE_URL: database.url };
  do results.push(await copy.run(command, { environment }));
  while (!built.signal.aborted);
  await builds;
  expect(results.filter(({ status }) => status !== 0)).toEqual([]);
  expect(existsSync(left)).toBe(false);
  for (const asset of ['database/functions/tally.sql', 'openapi/overview.md', '@scalar'])
    expect(existsSync(join(copy.folder, 'packages/server/dist', asset))).toBe(true);
  expect(
    await readFile(join(copy.folder, 'packages/server/dist/command-error.js'), 'utf8'),
  ).toContain('changed');
});

it.each([
  ['test:watch', { watch: true, collectCoverage: false }],
  [
    'test:cov',
    { watch: false, collectCoverage: true, collectCoverageFrom: ['{src,packages/server/src}/**'] },
  ],
])('%s runs Jest with its options, without the specs of processes', async (name, options) => {
  const script = run(name, '--showConfig');
  await once(script.child, 'exit');
  const text = script.output();
  const { globalConfig, configs } = JSON.parse(text.slice(text.indexOf('\n{'))) as {
    globalConfig: object;
    configs: [{ rootDir: string; roots: string[]; testPathIgnorePatterns: string[] }];
  };
  expect(globalConfig).toMatchObject(options);
  const [{ rootDir, roots, testPathIgnorePatterns }] = configs;
  expect(testPathIgnorePatterns).toEqual(['\\.system\\.spec\\.ts$']);
  const folders = [
    'src',
    'test',
    'packages/embedded-postgres/test',
    'packages/server/src',
    'packages/server/test',
  ];
  expect(roots.map((root) => relative(rootDir, root))).toEqual(folders);
});

it('test:e2e runs what npm test runs, with its arguments', () => {
  expect(scripts['test:e2e']).toBe('npm test --');
});
