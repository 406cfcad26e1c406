import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DEMO_CLIENT, DEMO_TOKEN, loadDemonstration } from '#server/demo/load-demonstration.js';
import { overview } from '#server/openapi/document.js';
import { PROJECT } from '../project.js';
import { type Service, startService } from '../service.js';
import { type Fence, fencesOf } from './markdown.js';

/** The commands of a document, each with the block that is printed right after it. */
function commandsOf(markdown: string): { heading: string; command: string; output?: Fence }[] {
  const { fences } = fencesOf(markdown);
  return fences.flatMap(({ language, text, heading }, at) => {
    if (language !== 'sh') return [];
    const next = fences[at + 1];
    const isOutput = next?.heading === heading && next.language !== 'sh';
    return [{ heading, command: text, ...(isOutput && { output: next }) }];
  });
}

/** The commands of docs/api.md below some headings. The others are parts of a whole. */
const inDocument = commandsOf(await readFile('docs/api.md', 'utf8')).filter(({ heading }) =>
  ['products', 'Related objects', 'Facets', 'Whole lists'].includes(heading),
);
const inOverview = commandsOf(overview());

let service: Service;
let folder: string;

beforeAll(async () => {
  service = await startService();
  await loadDemonstration(PROJECT, service.dataSource);
  folder = await mkdtemp(join(tmpdir(), 'catalogue-examples-'));
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** What a command prints on the demonstration. Throws if it ends with another status than 0. */
async function printed(command: string): Promise<string> {
  const address = `http://127.0.0.1:${service.port}`;
  const here = command.replaceAll('http://127.0.0.1:3000', address);
  const shell = ['-euo', 'pipefail', '-c', here];
  const env = {
    PATH: process.env.PATH,
    CATALOGUE_URL: address,
    CLIENT_ID: DEMO_CLIENT,
    ACCESS_TOKEN: DEMO_TOKEN,
  };
  const { stdout } = await promisify(execFile)('bash', shell, { cwd: folder, env });
  return stdout.replaceAll('\r', '');
}

describe.each([
  ['docs/api.md', inDocument],
  ['the overview of the OpenAPI document', inOverview],
])('The examples of %s', (_, examples) => {
  it.each(examples)('print what they say: $heading', async ({ command, output }) => {
    const text = await printed(command);
    if (output?.language === 'json') expect(JSON.parse(text)).toEqual(JSON.parse(output.text));
    else if (output) expect(text).toBe(output.text);
    else expect(text).not.toContain('"ERROR"');
  });
});

describe('The overview of the OpenAPI document', () => {
  it('has a command for what everybody starts with, and one heading for each subject', () => {
    const headings = [...overview().matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([
      'First request',
      'Credentials',
      'Envelope',
      'Paging',
      'Filters',
      'Fields and related objects',
      'Search',
      'Facets',
      'Errors',
      'Caching',
      'Whole lists',
      'Keeping a copy',
      'Limits and retries',
      'HEAD and OPTIONS',
    ]);
    expect(inOverview.length).toBeGreaterThan(12);
  });
});
