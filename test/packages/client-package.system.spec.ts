import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import swc from '@swc/core';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';
import { loadDemonstration } from '#server/demo/load-demonstration.js';
import { PROJECT } from '../project.js';
import { type Fence, fencesOf } from '../docs/markdown.js';
import { startWith } from '../list/migrated.js';
import { StoresModule } from '../list/shaped.fixture.js';
import type { Service } from '../service.js';
import { advanceWatermark } from '../watermark.js';
import { LotsModule } from './lot.fixture.js';

const run = promisify(execFile);
const STOREFRONT = 'examples/storefront/index.html';
const FOLDER = resolve('packages/client');

/** The documents whose TypeScript is compiled and run. */
const DOCUMENTS = ['packages/client/README.md', 'README.md'];

/** What a document begins with, for its other blocks. */
const CONSTRUCTION = `import { Catalogue } from './catalogue.js';
const catalogue = new Catalogue({
  url: 'http://127.0.0.1:3000',
  clientID: 'demo',
  accessToken: 'demo-token',
});
`;

/** Resources that somebody has added to the service. */
@Module({ imports: [LotsModule, StoresModule] })
class AddedModule {}

let service: Service;
let scratch: string;
/** A project into which the package was installed, and into which it has written the types of the service. */
let consumer: string;
/** What it said then. */
let generated: string;

beforeAll(async () => {
  service = await startWith(AddedModule);
  await loadDemonstration(PROJECT, service.dataSource);
  await service.load('test_lots', [
    { lotID: 'a', colour: 'red' },
    { lotID: 'b', colour: 'red' },
    { lotID: 'c', colour: null },
  ]);
  await advanceWatermark(service.dataSource, 2);
  scratch = await mkdtemp(join(tmpdir(), 'catalogue-client-'));
  consumer = join(scratch, 'consumer');
  await symlink(resolve('node_modules'), join(scratch, 'node_modules'));
  const packed = await run('npm', ['pack', '--pack-destination', scratch], {
    cwd: await copied('packed'),
  });
  const tarball = packed.stdout.trim().split('\n').at(-1) ?? '';
  await mkdir(consumer);
  await writeFile(join(consumer, 'package.json'), '{ "private": true, "type": "module" }');
  const flags = ['--offline', '--no-audit', '--no-fund', '--no-package-lock'];
  await run('npm', ['install', ...flags, join(scratch, tarball)], { cwd: consumer });
  generated = await generate();
});
afterAll(async () => {
  await service.stop();
  await rm(scratch, { recursive: true });
});

/** A copy of the sources of the package: other suites copy the project meanwhile. */
async function copied(name: string): Promise<string> {
  const copy = join(scratch, name);
  await cp(FOLDER, copy, { recursive: true, filter: (path) => path !== join(FOLDER, 'dist') });
  return copy;
}

/** Runs the command of the README in the consumer. */
async function generate(): Promise<string> {
  const { fences } = fencesOf(await readFile(join(FOLDER, 'README.md'), 'utf8'));
  const command = fences.find(({ heading }) => heading === 'The types of a service')?.text;
  const CATALOGUE_URL = `http://127.0.0.1:${service.port}`;
  const { stdout } = await run('sh', ['-ec', command ?? 'false'], {
    cwd: consumer,
    env: { ...process.env, CATALOGUE_URL, npm_config_offline: 'true' },
  });
  return stdout;
}

/**
 * Compiles the modules of the consumer for Node.js with the strictest settings, and checks the declarations of the
 * package as well: those of TypeScript and of Node.js alone are taken as they are. That the package needs nothing of
 * Node.js, its own build shows. Throws what the compiler says.
 */
function compile(modules: readonly string[]): void {
  const program = ts.createProgram(
    modules.map((name) => join(consumer, 'src', name)),
    {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      lib: ['lib.es2022.d.ts'],
      types: ['node'],
      typeRoots: [resolve('node_modules/@types')],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      // As Node.js itself runs TypeScript.
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
      outDir: join(consumer, 'dist'),
      rootDir: join(consumer, 'src'),
    },
  );
  const checked = program
    .getSourceFiles()
    .map(({ fileName }) => fileName)
    .filter((name) => name.startsWith(consumer));
  expect(checked).toContain(join(consumer, 'node_modules/@catalogue/client/dist/index.d.ts'));
  const errors = [
    ...program.getOptionsDiagnostics(),
    ...checked.flatMap((name) => {
      const source = program.getSourceFile(name);
      return [
        ...program.getSyntacticDiagnostics(source),
        ...program.getSemanticDiagnostics(source),
      ];
    }),
    ...program.emit().diagnostics,
  ];
  const message = ts.formatDiagnostics(errors, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => consumer,
    getNewLine: () => '\n',
  });
  if (message !== '') throw new Error(message);
}

/** The client as one minified module. */
async function bundled(): Promise<string> {
  const entry = join(consumer, 'node_modules/@catalogue/client/dist/index.js');
  const { client } = (await swc.bundle({
    entry: { client: entry },
    output: { path: scratch, name: 'client' },
    module: {},
    mode: 'production',
    target: 'browser',
    options: { jsc: { target: 'es2022' } },
  })) as unknown as Record<string, { code: string }>;
  const { code } = await swc.minify(client?.code ?? '', {
    module: true,
    compress: true,
    mangle: true,
  });
  return code;
}

it('The package has the built client, its command and documents, and no dependencies', async () => {
  const installed = join(consumer, 'node_modules/@catalogue/client');
  const files = await readdir(installed, { recursive: true });
  const isCode = (name: string) => /^(dist\/[\w-]+(\.d\.ts|\.js)|generate\/\w+\.js)$/.test(name);
  const others = files.filter((name) => !isCode(name)).sort();
  expect(others).toEqual(['LICENSE', 'README.md', 'dist', 'generate', 'package.json']);
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([]);
  expect(await readdir(join(consumer, 'node_modules'))).toEqual([
    '.bin',
    '.package-lock.json',
    '@catalogue',
  ]);
});

it('The package knows no resource', async () => {
  const installed = join(consumer, 'node_modules/@catalogue/client');
  const { stdout } = await run('sh', [
    '-c',
    `grep -rniE 'product|brand|categor|variant' --exclude=README.md '${installed}' || true`,
  ]);
  expect(stdout).toBe('');
});

it('The client is less than 5 kB, minified and with gzip', async () => {
  expect(gzipSync(await bundled(), { level: 9 }).length).toBeLessThan(5000);
});

it('The storefront has the client as it is: STOREFRONT=write npm test -- test/packages writes it', async () => {
  const page = await readFile(STOREFRONT, 'utf8');
  // Whatever has a meaning in a URL or ends an element.
  const escaped = (await bundled()).replace(/[%#<]|[^\x20-\x7e]/g, encodeURIComponent);
  const url = JSON.stringify(`data:text/javascript,${escaped}`);
  const written = page.replace(/"data:text\/javascript,(?:[^"\\]|\\.)*"/, () => url);
  if (process.env.STOREFRONT === 'write') await writeFile(STOREFRONT, written);
  else expect(page).toBe(written);
  expect(written).toContain(url);
});

describe('A project that has installed the package', () => {
  /** The blocks of TypeScript of the documents, each with the output that is printed right after it. */
  async function blocks() {
    const found = await Promise.all(
      DOCUMENTS.map(async (path) => {
        const { fences } = fencesOf(await readFile(path, 'utf8'));
        return fences.flatMap(({ language, text, heading }, at) => {
          if (language !== 'ts') return [];
          const next: Fence | undefined = fences[at + 1];
          const isOutput = next?.heading === heading && next.language === 'text';
          const code = /new (Catalogue|Transport)\(/.test(text) ? text : CONSTRUCTION + text;
          return { path, code, output: isOutput ? next.text : '' };
        });
      }),
    );
    return found.flat();
  }

  it('compiles and runs the examples of the documents', async () => {
    const examples = await blocks();
    expect([...new Set(examples.map(({ path }) => path))]).toEqual(DOCUMENTS);
    await writeFile(join(consumer, 'src/types.ts'), TYPES);
    for (const [at, { code }] of examples.entries()) {
      const here = code.replaceAll('http://127.0.0.1:3000', `http://127.0.0.1:${service.port}`);
      await writeFile(join(consumer, `src/example${at}.ts`), here);
    }
    compile(['types.ts', ...examples.map((_, at) => `example${at}.ts`)]);
    const outputs = await Promise.all(
      examples.map(async (_, at) => {
        const { stdout } = await run('node', [join(consumer, `dist/example${at}.js`)]);
        return stdout;
      }),
    );
    expect(outputs).toEqual(examples.map(({ output }) => output));
  });

  it('has the resources that were added to the service', async () => {
    const names = generated.trim().split(/[:,] /);
    expect(names).toEqual(
      expect.arrayContaining(['src/catalogue.ts', 'brands', 'test_lots', 'test_stores']),
    );
    await writeFile(join(consumer, 'src/added.ts'), ADDED);
    compile(['added.ts']);
    const { clientID, token, port } = service;
    const { stdout } = await run('node', [
      join(consumer, 'dist/added.js'),
      ...[`http://127.0.0.1:${port}`, clientID, token],
    ]);
    expect(JSON.parse(stdout)).toEqual({
      listed: [{ lotID: 'a' }, { lotID: 'b' }],
      counted: [{ field: 'colour', value: 'red', label: null, count: 2 }],
      colour: null,
      put: ['a', 'b', 'c'],
    });
  });
});

describe('An editor', () => {
  const BRAND = '{ readonly brandID: string; readonly name: string; }';
  const NAMED = '{ readonly name: string | null; readonly price: string | null; }';

  /** One for all: it parses the declarations of the package and of TypeScript once. */
  let editor: ts.LanguageService;
  /** The module of the consumer that is open, and its text, which each test replaces. */
  let file: string;
  let text = '';
  let version = 0;

  beforeAll(() => {
    file = join(consumer, 'src/shown.ts');
    const read = (name: string) => (name === file ? text : ts.sys.readFile(name));
    const options: ts.CompilerOptions = {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      strict: true,
      exactOptionalPropertyTypes: true,
      types: [],
    };
    editor = ts.createLanguageService({
      fileExists: (name) => name === file || ts.sys.fileExists(name),
      readFile: read,
      directoryExists: (name) => ts.sys.directoryExists(name),
      getScriptFileNames: () => [file],
      getScriptVersion: (name) => (name === file ? String(version) : ''),
      getScriptSnapshot: (name) => {
        const content = read(name);
        return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
      },
      getCurrentDirectory: () => consumer,
      getCompilationSettings: () => options,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
    });
  });

  /** What an editor shows for a name where it first is in a module of the consumer. */
  function quickInfo(code: string, name: string) {
    text = code;
    version += 1;
    const messages = editor.getSemanticDiagnostics(file).map(({ messageText }) => messageText);
    expect(messages).toEqual([]);
    const at = code.search(new RegExp(`\\b${name}\\b`));
    const { displayParts, documentation } = editor.getQuickInfoAtPosition(file, at) ?? {};
    return {
      type: ts.displayPartsToString(displayParts).replace(/\s+/g, ' '),
      meaning: ts.displayPartsToString(documentation),
    };
  }

  it.each([
    ["products.list({ brandID: ['b'] })", 'Page<Product>'],
    ["products.list({ fields: ['name', 'price'] })", `Page<${NAMED}>`],
    [
      "products.list({ fields: ['name', 'brand.name', 'brand.brandID'] })",
      `Page<{ readonly name: string | null; readonly brand: ${BRAND} | null; }>`,
    ],
    [
      "products.list({ fields: ['name'], include: ['brand'] })",
      'Page<{ readonly name: string | null; readonly brand: Brand | null; }>',
    ],
    ["brands.stream({ fields: ['name'] })", 'OpenedStream<{ readonly name: string; }>'],
    ["products.get('p', { fields: ['name', 'price'] })", NAMED],
    ["products.get('p')", 'Product'],
  ])('shows a readable type for the result of %s', (call, type) => {
    const code = `${CONSTRUCTION}export const result = await catalogue.${call};`;
    expect(quickInfo(code, 'result').type).toBe(`const result: ${type}`);
  });

  it('shows an object with all fields and a related object as a plain object', () => {
    const code = `${CONSTRUCTION}
      export const result = await catalogue.categories.list({ include: ['parent'] });`;
    expect(quickInfo(code, 'result').type).toMatch(
      /^const result: Page<\{ readonly categoryID: string; [^&]*readonly parent: Category \| null; \}>$/,
    );
  });

  it('shows what a parameter and a field mean', () => {
    const code = `${CONSTRUCTION}
      const { objects } = await catalogue.products.list({ priceMin: 20, fields: ['stock'] });
      export const left = objects.map(({ stock: pieces }) => pieces);`;
    expect(quickInfo(code, 'priceMin')).toEqual({
      type: '(property) priceMin?: string | number | undefined',
      meaning: 'The products that cost at least this, whatever the currency.',
    });
    expect(quickInfo(code, 'stock: pieces')).toEqual({
      type: '(property) stock: number | null',
      meaning: 'Pieces at hand; null where none are kept.',
    });
  });
});

/** What the types say, and what they refuse. */
const TYPES = `
import { CatalogueError, type Facets, type MirrorStore, Resource, Transport } from '@catalogue/client';
import { type Brand, Catalogue, type Category, type Product } from './catalogue.js';

export async function types(
  catalogue: Catalogue,
  names: ('name' | 'price')[],
  related: ('name' | 'brand.name')[],
  include: ('brand' | 'category')[],
  signal: AbortSignal,
) {
  const { count, objects } = await catalogue.products.list({ type: ['DIGITAL'] }, { signal });
  const [product] = objects;
  equal<typeof count, number>(true);
  equal<NonNullable<typeof product>['price'], string | null>(true);
  const whole: Product | undefined = product;

  for await (const one of catalogue.products.list({ fields: ['name', 'brand.name'] })) {
    equal<keyof typeof one, 'name' | 'brand'>(true);
    equal<(typeof one)['name'], string | null>(true);
    equal<keyof NonNullable<(typeof one)['brand']>, 'name'>(true);
    // @ts-expect-error -- not among the fields
    one.price;
  }
  for await (const one of catalogue.products.stream({ include: ['brand'] })) {
    equal<(typeof one)['brand'], Brand | null>(true);
    equal<(typeof one)['category'], Category | null | undefined>(true);
    equal<(typeof one)['stock'], number | null>(true);
  }
  for await (const one of catalogue.products.stream({ fields: names })) {
    equal<(typeof one)['name'], string | null | undefined>(true);
    equal<(typeof one)['brand'], Brand | null | undefined>(true);
  }
  for await (const one of catalogue.products.stream({ fields: related })) {
    equal<(typeof one)['name'], string | null | undefined>(true);
    equal<NonNullable<(typeof one)['brand']>['name'], string | undefined>(true);
    equal<(typeof one)['category'], Category | null | undefined>(true);
  }
  for await (const one of catalogue.products.list({ include })) {
    equal<(typeof one)['brand'], Brand | null | undefined>(true);
    equal<(typeof one)['category'], Category | null | undefined>(true);
    equal<(typeof one)['name'], string | null>(true);
  }
  for await (const one of catalogue.products.list({ fields: ['name', 'brand.name'], include })) {
    equal<keyof typeof one, 'name' | 'brand' | 'category'>(true);
    equal<keyof NonNullable<(typeof one)['brand']>, 'name'>(true);
    equal<(typeof one)['category'], Category | null | undefined>(true);
  }
  const brand = await catalogue.brands.get('b', { fields: ['name'] });
  equal<keyof typeof brand, 'name'>(true);
  const one = await catalogue.products.get('p', { fields: ['name', 'brand.name'], include: ['category'] });
  equal<keyof typeof one, 'name' | 'brand' | 'category'>(true);
  equal<keyof NonNullable<(typeof one)['brand']>, 'name'>(true);
  equal<(typeof one)['category'], Category | null>(true);
  const plain = await catalogue.products.get('p');
  equal<(typeof plain)['brand'], Brand | null | undefined>(true);
  const { objects: facets } = await catalogue.products.facets({ facets: ['type'] });
  equal<
    (typeof facets)[number]['field'],
    'type' | 'brandID' | 'brandIDExists' | 'categoryID' | 'categoryIDExists' | 'price' | 'currency' | 'colours' | 'coloursExists'
      | 'createdAt' | 'updatedAt' | 'inStock' | 'within' | 'q'
  >(true);
  const save = () => undefined;
  const store: MirrorStore<Pick<Brand, 'brandID'>> = { clear() {}, put() {}, delete() {} };
  catalogue.mirror({ brands: store }, { save, fields: { brands: ['brandID'] } });
  const keyed: MirrorStore<Pick<Brand, 'brandID' | 'name'>> = { clear() {}, put() {}, delete() {} };
  const mirror = catalogue.mirror({ brands: keyed, products: new ProductStore() }, { save, fields: { brands: ['name'] } });
  equal<Awaited<ReturnType<typeof mirror.round>>, boolean>(true);
  const { count: values }: Facets = await catalogue.products.facets();
  equal<typeof catalogue.products extends Resource<infer Types> ? Types['object'] : never, Product>(true);

  const none = Math.random() > 2 ? 'b' : undefined;
  catalogue.products.list({
    brandID: none === undefined ? undefined : [none],
    q: none,
    limit: undefined,
    priceMin: 20,
    priceMax: '19.99',
    createdSince: new Date(),
    updatedSince: '2026-11-21T12:00:00.000Z',
    fields: undefined,
  });
  catalogue.products.stream({ brandID: undefined, priceMin: 20 });
  void catalogue.products.facets({ facets: undefined, priceMin: 20, createdSince: new Date() });

  // Without types, all names are possible.
  const lots = new Resource(new Transport({ url: 'http://127.0.0.1', clientID: 'c', accessToken: 't' }), 'lots', 'lotID');
  for await (const lot of lots.list({ colour: 'red', fields: ['lotID'] })) equal<typeof lot.lotID, unknown>(true);

  // @ts-expect-error -- no such parameter
  catalogue.products.list({ colour: 'red' });
  // @ts-expect-error -- a text
  catalogue.products.list({ q: 20 });
  // @ts-expect-error -- no such value
  catalogue.products.list({ type: ['LIQUID'] });
  // @ts-expect-error -- no such field
  catalogue.products.list({ fields: ['colour'] });
  // @ts-expect-error -- no such related object
  void catalogue.products.get('p', { include: ['maker'] });
  // @ts-expect-error -- brands have no related objects
  void catalogue.brands.get('b', { include: ['brand'] });
  // @ts-expect-error -- no such sort
  catalogue.brands.list({ sort: ['price'] });
  // @ts-expect-error -- brands have no facets
  catalogue.brands.facets();
  // @ts-expect-error -- a copy does not follow related objects
  catalogue.mirror({ products: new ProductStore() }, { save, fields: { products: ['brand.name'] } });
  // @ts-expect-error -- the store needs more fields than are asked for
  catalogue.mirror({ products: new ProductStore() }, { save, fields: { products: ['productID'] } });
  // @ts-expect-error -- required
  new Catalogue({ url: 'http://127.0.0.1' });
  return [whole, values, new CatalogueError('-1', 'm', 500, undefined, undefined).errcode];
}

declare class ProductStore implements MirrorStore<Product> {
  clear(): void;
  put: (products: readonly Product[]) => void;
  delete(identifiers: readonly string[]): void;
}

/** Compiles with the argument \`true\` for the same types only. */
declare function equal<A, B>(
  same: (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false,
): void;
`;

/** What the types of added resources say, and what they give. */
const ADDED = `
import { Catalogue, type Store } from './catalogue.js';

const [url = '', clientID = '', accessToken = ''] = process.argv.slice(2);
const catalogue = new Catalogue({ url, clientID, accessToken });
const { testLots, testStores } = catalogue;
const { objects: listed } = await testLots.list({ colour: 'red', fields: ['lotID'] });
const { objects: counted } = await testLots.facets();
const { colour }: { colour: string | null } = await testLots.get('c');
const put: string[] = [];
const nothing = () => undefined;
const store = { clear: nothing, delete: nothing, put: (lots: readonly { readonly lotID: string }[]) => put.push(...lots.map(({ lotID }) => lotID)) };
await catalogue.mirror({ testLots: store }, { save: nothing }).round();
console.log(JSON.stringify({ listed, counted, colour, put }));

// @ts-expect-error -- no such parameter
testLots.list({ color: 'red' });
export const shape = ({ hours, place, contacts, extra }: Store) => {
  const open: string | null | undefined = hours?.monday.open;
  const sunday: { readonly close: string } | null | undefined = hours?.['first-sunday'];
  const access: 'STEPS' | 'LEVEL' | null | undefined = place.access;
  const tags: readonly string[] | null | undefined = place.tags;
  const names: string[] = contacts.map(({ name }) => name);
  const anything: unknown = extra;
  // @ts-expect-error -- it may be missing
  const seats: number | null = place.seats;
  return [open, sunday, access, tags, names, anything, seats, testStores];
};
`;
