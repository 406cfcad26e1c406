import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { access, chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { plainLines } from '../plain-lines.js';
import { ScratchCopy } from '../schematics/scratch-copy.js';
import { fencesOf } from './markdown.js';

const readme = await readFile('README.md', 'utf8');

/** A block of commands, and the output that the README prints right after it. */
interface Block {
  readonly commands: string;
  readonly format?: string;
  readonly output?: string;
}

const { fences } = fencesOf(readme);

const blocks = fences.flatMap(({ language, text, heading }, at): Block[] => {
  if (language !== 'sh') return [];
  const next = fences[at + 1];
  const isOutput = next?.heading === heading && next.language !== 'sh';
  return [{ commands: text, ...(isOutput && { format: next.language, output: next.text }) }];
});

const START = 'npm ci && npm start\n';

/** The blocks that do not run here, by their first line, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'docker compose up -d --wait': 'needs Docker: deploy/check.sh runs it',
  'docker compose exec -T catalogue catalogue client create acme': 'likewise',
  'npm ci && npm test': 'is what runs this test',
};

const firstLine = ({ commands }: Block): string => commands.split('\n', 1)[0] ?? '';
const isRun = (block: Block): boolean => !(firstLine(block) in NOT_RUN);
const run = blocks
  .slice(1)
  .filter(isRun)
  .map((block) => [firstLine(block), block] as const);

const isGenerated = existsSync('src/suppliers');
/** Whether the project lists external tables. The embedded database has none, so that `verify` names them. */
const listsTables = (await readdir('src', { recursive: true }))
  .filter((file) => file.endsWith('.entity.ts'))
  .some((file) => readFileSync(join('src', file), 'utf8').includes('external:'));

interface Refusal {
  readonly result?: { readonly status: string };
}

let copy: ScratchCopy;
let dataDir: string;
let service: ChildProcess;
let written = '';
/** What it would have written to a terminal. */
let printed = '';
let address = '';

beforeAll(async () => {
  copy = await ScratchCopy.make();
  dataDir = await mkdtemp(join(tmpdir(), 'catalogue-readme-'));
  // Root runs the server as another user, who has to get in.
  await chmod(dataDir, 0o755);
  // What npm ci installs is linked to.
  service = spawn('bash', ['-c', START.replace('npm ci && ', 'exec ')], {
    ...surroundings(),
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  await new Promise<void>((resolve, reject) => {
    service.stdout?.on('data', (chunk: Buffer) => {
      written += chunk.toString();
      printed = plainLines(written);
      address = /^Catalogue listens on (\S+) /m.exec(printed)?.[1] ?? '';
      if (printed.includes('\nTry: ') && printed.endsWith('\n')) resolve();
    });
    service.once('exit', () => {
      reject(new Error(`The service ended: ${printed}`));
    });
  });
});
afterAll(async () => {
  if (service.exitCode === null && service.pid !== undefined) {
    const ended = once(service, 'exit');
    // As Ctrl-C does it, to npm and to the service.
    process.kill(-service.pid, 'SIGINT');
    await ended;
  }
  await copy.remove();
  await rm(dataDir, { recursive: true, maxRetries: 10 });
});

/** Where the commands run, and with what: nothing of the environment of the tests. */
function surroundings() {
  const { PATH, HOME } = process.env;
  return { cwd: copy.folder, env: { PATH, HOME, DATA_DIR: dataDir, PORT: '0' } };
}

const here = (text: string): string =>
  text.replaceAll('http://127.0.0.1:3000', address).replaceAll('/srv/catalogue/.data', dataDir);

describe('The commands of the README', () => {
  it('start the service, which prints what it says', () => {
    const [start] = blocks;
    expect(start?.commands).toBe(START);
    expect(start?.output).toContain('Catalogue listens on');
    expect(printed).toContain(here(start?.output ?? ''));
  });

  it.each(run)('run as printed: %s', async (_, block) => {
    const { format } = block;
    const without = (text: string, line: RegExp) => (listsTables ? text.replace(line, '') : text);
    const commands = without(block.commands, /^.* verify\n/m);
    const output = block.output && without(block.output, /^Nothing is off\n/m);
    // In a project whose author has run it.
    if (commands.startsWith('npm run resource ') && isGenerated) return;
    const shell = ['-euo', 'pipefail', '-c', here(commands)];
    // Rejects where one ends with another status than 0.
    const { stdout } = await promisify(execFile)('bash', shell, {
      ...surroundings(),
      maxBuffer: 16 * 1024 * 1024,
    });
    if (format === 'json') expect(JSON.parse(stdout)).toEqual(JSON.parse(output ?? ''));
    else if (output !== undefined) expect(stdout).toBe(output);
    else if (commands.includes('curl ')) {
      const response = stdout.trim().split('\n').at(-1) ?? '';
      expect((JSON.parse(response) as Refusal).result?.status).not.toBe('ERROR');
    }
  });

  it('have written the resource that they add', async () => {
    await access(join(copy.folder, 'src/suppliers/supplier.entity.ts'));
    expect(await readFile(join(copy.folder, 'src/app.module.ts'), 'utf8')).toContain(
      'SuppliersModule',
    );
  });

  it('are all run but for those named here', () => {
    const left = blocks.filter((block) => !isRun(block)).map(firstLine);
    expect(left).toEqual(Object.keys(NOT_RUN));
    expect(run.length).toBeGreaterThan(4);
  });
});
