import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { execFile as execFileOf } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { CommandResult } from '../cli/catalogue.js';
import { CommandHost } from '../cli/command-host.js';

const execFile = promisify(execFileOf);

let folder: string;
let host: CommandHost;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalogue-env-'));
  await symlink(resolve('dist'), join(folder, 'dist'));
  host = new CommandHost(folder);
});
afterEach(() => rm(join(folder, '.env'), { recursive: true, force: true }));
afterAll(async () => {
  await host.end();
  await rm(folder, { recursive: true });
});

const write = (text: string): Promise<void> => writeFile(join(folder, '.env'), text);

/** Runs a command in the folder of the file. No variable that it sets is in the environment, even if a `.env` of the project has it. */
const run = (environment: NodeJS.ProcessEnv = {}, ...args: string[]): Promise<CommandResult> =>
  host.run(args, { environment: { PORT: undefined, POOL_SIZE: undefined, ...environment } });

const refusal = (line: string) => ({ status: 1, stdout: '', stderr: `catalogue: ${line}\n` });

it.each([
  ['PORT=http\n'],
  ['# The port\n\n  export PORT = "http" # of the API\n'],
  ['TEXT="PORT 3000\nand more"\r\nPORT=\'http\'\r\n'],
])('A .env gives variables to every command: %j', async (text) => {
  await write(text);
  const refused = refusal('PORT must be an integer between 0 and 65535');
  for (const args of [[], ['start'], ['migrate'], ['client', 'list'], ['verify']])
    expect(await run({}, ...args)).toEqual(refused);
});

it('A variable of the environment has precedence, also if it is empty', async () => {
  await write('PORT=http\nPOOL_SIZE=many\n');
  expect(await run({ PORT: '', POOL_SIZE: '0' }, 'migrate')).toEqual(
    refusal('POOL_SIZE must be an integer between 1 and 1000'),
  );
});

it('A missing .env is no error', async () => {
  expect(await run({ PORT: 'x' }, 'migrate')).toEqual(
    refusal('PORT must be an integer between 0 and 65535'),
  );
});

it.each([
  ['PORT 3000\nHOST=127.0.0.1\n', 1],
  ['PORT=0\n\nDATABASE_URL: postgres://user:secret@host/db\n', 3],
  ['TEXT="one\ntwo"\nthree', 3],
  // Node.js would give these no value, another one, or another name.
  ['PORT=0\n  # was "quoted\nPOOL_SIZE="4"\n', 2],
  ['export  PORT=0\n', 1],
  ['\tPORT\t=\t0\n', 1],
  ['PORT=0\0\n', 1],
])('A line of another form is refused by its number: %j', async (text, line) => {
  await write(text);
  expect(await run({}, 'migrate')).toEqual(refusal(`Line ${line} of .env must be like NAME=value`));
});

it.each([
  ['a folder', () => mkdir(join(folder, '.env'))],
  ['a pipe', () => execFile('mkfifo', [join(folder, '.env')])],
])('A .env that is %s is refused', async (_, make) => {
  await make();
  expect(await run({}, 'migrate')).toEqual(refusal('.env must be a regular file'));
});

it('A .env that is a link to itself is refused', async () => {
  await symlink('.env', join(folder, '.env'));
  expect(await run({}, 'migrate')).toEqual(refusal('.env cannot be read: ELOOP'));
});

it.each(['utf8', 'utf16le'] as const)('A byte order mark is refused: %s', async (encoding) => {
  await writeFile(join(folder, '.env'), '\uFEFFPORT=0\n', encoding);
  const line = '.env must be UTF-8 without a byte order mark';
  expect(await run({}, 'migrate')).toEqual(refusal(line));
});

it('Help does not need the .env', async () => {
  await write('PORT 3000\n');
  for (const args of [['--help'], ['migrate', '--help'], ['client', 'create', '--help']])
    expect(await run({}, ...args)).toMatchObject({ status: 0, stderr: '' });
  expect(await run({}, 'migrate', '--colour')).toMatchObject({ status: 2 });
});
