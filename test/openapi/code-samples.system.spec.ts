import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Service, startService } from '../service.js';
import { withTool } from '../tools.js';

interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

const run = promisify(execFile);

/** How a sample of each language is run: the program, the tool of `.ci/run`, and the file's ending. */
const LANGUAGES = {
  Shell: { program: 'sh', tool: 'curl', ending: 'sh' },
  JavaScript: { program: 'node', tool: 'node', ending: 'mjs' },
  Python: { program: 'python3', tool: 'python3', ending: 'py' },
  PHP: { program: 'php', tool: 'php-cli', ending: 'php' },
} as const;

let service: Service;
let folder: string;
let samples: Map<string, readonly CodeSample[]>;

beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), 'catalogue-samples-'));
  await service.load(
    'products',
    ['p-000006', 'p-1', 'p-2', 'p-3', 'p-4'].map((productID) => ({
      productID,
      type: productID === 'p-4' ? 'DIGITAL' : 'PHYSICAL',
      name: `Name of ${productID}`,
    })),
  );
  const { body } = await service.anonymous().get('/openapi.json').expect(200);
  samples = new Map(
    Object.entries<{ get: { 'x-codeSamples'?: CodeSample[] } }>(body.paths).map(([path, item]) => [
      path,
      item.get['x-codeSamples'] ?? [],
    ]),
  );
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** The output of the samples of a path in a language, by label. */
async function outputs(path: string, lang: keyof typeof LANGUAGES): Promise<string[]> {
  const { program, ending } = LANGUAGES[lang];
  const ofLanguage = samples.get(path)?.filter((sample) => sample.lang === lang) ?? [];
  return Promise.all(
    ofLanguage.map(async ({ source }, at) => {
      const file = join(folder, `${lang}-${path.replace(/\W/g, '-')}-${at}.${ending}`);
      await writeFile(file, source);
      const { stdout } = await run(program, [file], {
        env: {
          PATH: process.env.PATH,
          CATALOGUE_URL: `http://127.0.0.1:${service.port}`,
          CLIENT_ID: service.clientID,
          ACCESS_TOKEN: service.token,
        },
      });
      return stdout;
    }),
  );
}

describe.each(Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[])(
  'The code samples in %s',
  (lang) => {
    const { program, tool } = LANGUAGES[lang];
    const { it } = withTool({
      name: tool,
      isThere: spawnSync(program, ['--version']).error === undefined,
      install: `apt-get install ${tool}`,
    });

    it('list a page, a page that is filtered and sorted, and the whole list', async () => {
      const [page = '', narrowed = '', whole = ''] = await outputs('/products', lang);
      for (const name of ['p-000006', 'p-1', 'p-2']) expect(page).toContain(`Name of ${name}`);
      expect(page).not.toContain('Name of p-3');
      expect(page).toMatch(/\b5\b/);
      expect(narrowed).toMatch(/\b4\b/);
      expect(narrowed).not.toContain('Name of p-4');
      for (const name of ['p-000006', 'p-1', 'p-2', 'p-3', 'p-4']) {
        expect(whole).toContain(`Name of ${name}`);
      }
    });

    it('get an object, and count values', async () => {
      const [object] = await outputs('/products/{productID}', lang);
      expect(object).toContain('Name of p-000006');
      const [facets] = await outputs('/facets/products', lang);
      expect(facets).toContain('DIGITAL');
    });
  },
);
