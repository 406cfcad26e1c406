import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { BARE_ENVIRONMENT } from './cli/catalogue.js';
import { createDatabase, type TestDatabase } from './database/database.js';
import { SYSTEM } from './jest.mjs';
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
    await appendFile(join(copy.folder, 'src/main.ts'), '\n// changed\n');
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

it.each([
  ['test:watch', { watch: true, collectCoverage: false }],
  ['test:cov', { watch: false, collectCoverage: true, collectCoverageFrom: ['src/**'] }],
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
  expect(testPathIgnorePatterns).toEqual([SYSTEM]);
  const folders = ['src', 'test', 'packages/embedded-postgres/test'];
  expect(roots.map((root) => relative(rootDir, root))).toEqual(folders);
});

it('test:e2e runs what npm test runs, with its arguments', () => {
  expect(scripts['test:e2e']).toBe('npm test --');
});
