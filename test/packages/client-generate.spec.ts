import { beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { resourcesIn } from '../../packages/client/generate/document.js';
import { moduleOf } from '../../packages/client/generate/module.js';
import { type CommandResult, runNode } from '../cli/catalogue.js';
import { sharedService } from '../service.js';
import { answering } from './answering.js';

/** The types of the resources of this project. */
const FILE = 'test/packages/catalogue.ts';

const service = sharedService();
let url: string;
/** The OpenAPI document of the service. */
let text: string;

beforeAll(async () => {
  url = `http://127.0.0.1:${service.port}`;
  text = (await service.anonymous().get('/openapi.json').expect(200)).text;
});

/** Runs the command in a folder of its own, and gives what it prints and the file that it writes. */
async function generate(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<CommandResult & { readonly file: string | undefined }> {
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-generate-'));
  try {
    await writeFile(join(folder, 'taken'), '');
    const program = join(process.cwd(), 'packages/client/generate/main.js');
    const result = await runNode([program, ...args], { folder, environment });
    const file = await readFile(join(folder, 'src/catalogue.ts'), 'utf8').catch(() => undefined);
    return { ...result, file };
  } finally {
    await rm(folder, { recursive: true });
  }
}

it(`${FILE} is that of the document: CLIENT_TYPES=write npm test -- test/packages writes it`, async () => {
  const document = JSON.parse(text);
  if (process.env.CLIENT_TYPES === 'write') {
    await writeFile(FILE, moduleOf(document, resourcesIn(document)));
  }
  const written = await readFile(FILE, 'utf8');
  // A project may have added resources and not generated the types again.
  const known = resourcesIn(document).filter(({ name }) =>
    written.includes(`(transport, '${name}'`),
  );
  expect(known.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['products', 'categories', 'brands', 'variants']),
  );
  expect(moduleOf(document, known)).toBe(written);
});

describe('generate', () => {
  it('writes src/catalogue.ts with all resources, from the service of --url or CATALOGUE_URL', async () => {
    const named = await generate(['generate', '--url', `${url}/`]);
    const names = resourcesIn(JSON.parse(text)).map(({ name }) => name);
    expect(named).toMatchObject({ status: 0, stderr: '' });
    expect(named.stdout).toBe(`src/catalogue.ts: ${names.join(', ')}\n`);
    expect(await generate(['generate'], { CATALOGUE_URL: url })).toEqual(named);
  });

  it('writes what a client may use, if its credentials are set', async () => {
    const { clientID: CLIENT_ID, token: ACCESS_TOKEN } = await service.newClient('narrow', {
      resources: ['brands'],
      hidden: ['brands.createdAt'],
    });
    const environment = { CATALOGUE_URL: url, CLIENT_ID, ACCESS_TOKEN };
    const { stdout, file } = await generate(['generate'], environment);
    expect(stdout).toBe('src/catalogue.ts: brands\n');
    expect(file).toContain('readonly updatedAt: string;');
    expect(file).not.toContain('createdAt');
    const refused = await generate(['generate'], { ...environment, ACCESS_TOKEN: 'wrong' });
    expect(refused.stderr).toBe(`${url}/openapi.json answers 401: The credentials are not valid\n`);
  });

  it.each([
    ['no command', [], 'Usage: catalogue-client generate [<file>] [--url <url>]'],
    [
      'an unknown option',
      ['generate', '--out', 'x'],
      'Usage: catalogue-client generate [<file>] [--url <url>]',
    ],
    [
      'two files',
      ['generate', 'a', 'b'],
      'Usage: catalogue-client generate [<file>] [--url <url>]',
    ],
    [
      'a password',
      ['generate', '--url', 'http://u:secret@h'],
      'The URL must be of http, without @',
    ],
  ])('refuses %s in one line', async (_, args, message) => {
    expect(await generate(args)).toEqual({
      status: 1,
      stdout: '',
      stderr: `${message}\n`,
      file: undefined,
    });
  });

  it('says in one line that a service cannot be reached, or is no catalogue', async () => {
    const free = await answering(
      () => undefined,
      (address) => Promise.resolve(address),
    );
    const { stderr } = await generate(['generate', '--url', free]);
    expect(stderr).toBe(
      `${free}/openapi.json cannot be reached: connect ECONNREFUSED ${free.slice(7)}\n`,
    );

    const others = {
      'a page': '<!doctype html>',
      'another JSON': '[null]',
      'another document': JSON.stringify({
        openapi: '3.1.0',
        paths: {
          '/pets': {
            get: { parameters: [{ in: 'query', name: 'limit' }], responses: { 200: {} } },
          },
          '/pets/{petID}': { get: { parameters: [] } },
          '/pets/{petID}/toys': { post: {} },
        },
      }),
    };
    for (const [name, body] of Object.entries(others)) {
      const result = await answering(
        (_, response) => response.end(body),
        async (address) => {
          const { stdout, stderr, status, file } = await generate(['generate', '--url', address]);
          return [stdout, stderr.replace(address, ''), status, file];
        },
      );
      expect([name, ...result]).toEqual([
        ...[name, ''],
        '/openapi.json has no resources of a catalogue\n',
        ...[1, undefined],
      ]);
    }
  });

  it('says in one line that the file cannot be written', async () => {
    const { stderr, status } = await generate(['generate', 'taken/catalogue.ts', '--url', url]);
    expect(stderr).toMatch(/^taken\/catalogue\.ts cannot be written: EEXIST: .+\n$/);
    expect(status).toBe(1);
  });
});

describe('The module', () => {
  /** Names and texts that TypeScript would read otherwise. */
  const ODD = `*/ it's "\\" \`\${1}\` // \n export const x = 1;`;

  it('is valid whatever names and texts the service has', () => {
    const document = JSON.parse(
      text
        .replaceAll('schemas/Brand"', 'schemas/Resource"')
        .replaceAll('"Brand":', '"Resource":')
        .replaceAll('"/brands', '"/my-brands')
        .replaceAll('"PHYSICAL"', JSON.stringify(ODD)),
    );
    const { properties } = document.components.schemas.Product;
    properties.name.description = ODD;
    properties.name.examples = [ODD];
    properties[ODD] = { type: ['array', 'null'], items: { type: 'object' } };
    const source = moduleOf(document, resourcesIn(document));

    const module = ts.createSourceFile('odd.ts', source, ts.ScriptTarget.ES2022);
    const { diagnostics } = ts.transpileModule(source, { reportDiagnostics: true });
    expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([]);
    const declared = module.statements.map((each) => ts.SyntaxKind[each.kind]);
    expect([...new Set(declared)].sort()).toEqual([
      'ClassDeclaration',
      'ImportDeclaration',
      'InterfaceDeclaration',
    ]);
    expect(source).toContain('export interface ResourceObject {');
    expect(source).toContain('readonly brand?: ResourceObject | null;');
    expect(source).toContain(`readonly myBrands: Omit<Resource<Resources['myBrands']>, 'facets'>;`);
    expect(source).toContain(`(transport, 'my-brands', 'brandID');`);
  });
});
