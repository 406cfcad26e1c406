import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ClientsService } from '#server/clients/clients.service.js';
import { loadDemonstration } from '#server/demo/load-demonstration.js';
import { NON_FILTERS } from '#server/list/condition/filters.js';
import { PROJECT } from '../project.js';
import { BARE_ENVIRONMENT, runNode } from '../cli/catalogue.js';
import { fencesOf } from '../docs/markdown.js';
import { Gate } from '../faults/gate.js';
import { KEYED_WORDS, KeyedModule } from '../list/keyed.fixture.js';
import { startWith } from '../list/migrated.js';
import { SamplesModule } from '../list/typed.fixture.js';
import type { Service } from '../service.js';
import { withTool } from '../tools.js';
import { eventually } from '../until.js';
import { LotsModule } from './lot.fixture.js';

const FOLDER = resolve('packages/mcp');
const PACKAGES = join(FOLDER, 'node_modules');
const tool = {
  name: 'packages/mcp/node_modules',
  isThere: existsSync(PACKAGES),
  install: 'npm --prefix packages/mcp ci',
};
const { describe: describeServer } = withTool(tool);

/** Of a shape that the test asserts. */
type Json = ReturnType<typeof JSON.parse>;

interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly annotations: object;
  readonly inputSchema: { readonly properties: Record<string, { readonly description: string }> };
}

/** Resources with identifiers and columns of every type. */
@Module({ imports: [LotsModule, SamplesModule, KeyedModule] })
class OthersModule {}

/** What the tests use of the client of the SDK, whose types are only there if it is installed. */
interface Speaker {
  getNegotiatedProtocolVersion(): string;
  listTools(): Promise<{ tools: ToolDefinition[] }>;
  callTool(params: { name: string; arguments: object | null }): Promise<Json>;
  close(): Promise<void>;
}

/** The revisions that the client of the SDK speaks by the handshake of 2025, and by that of 2026. */
const REVISIONS = [
  ['2025-11-25', 'legacy'],
  ['2026-07-28', 'auto'],
] as const;

let service: Service;
let gate: Gate;
let scratch: string;
/** The program, built from a copy: other suites copy the project meanwhile. */
let program: string;
/** The command line of a service in the folder of that copy. */
let catalogue: string;
/** What the servers have written, which no credential may be in. */
let written = '';
const clients: Speaker[] = [];

async function built(): Promise<string> {
  const copy = join(scratch, 'packages/mcp');
  const sources = (path: string) => !/\/(dist|node_modules)$/.test(path);
  for (const name of ['mcp', 'client']) {
    const folder = `packages/${name}`;
    await cp(folder, join(scratch, folder), { recursive: true, filter: sources });
  }
  await cp('tsconfig.json', join(scratch, 'tsconfig.json'));
  await symlink(resolve('node_modules'), join(scratch, 'node_modules'));
  const links = join(copy, 'node_modules');
  await mkdir(join(links, '@catalogue'), { recursive: true });
  await symlink(join(scratch, 'packages/client'), join(links, '@catalogue/client'));
  await symlink(join(PACKAGES, '@modelcontextprotocol'), join(links, '@modelcontextprotocol'));
  await promisify(execFile)('npm', ['run', '-s', 'build'], { cwd: copy });
  return join(copy, 'dist/main.js');
}

/** Copies the built service of this repository, without its packages, and gives its command line. */
async function copiedService(folder: string): Promise<string> {
  await cp('dist', join(folder, 'dist'), { recursive: true });
  await cp('package.json', join(folder, 'package.json'));
  return join(folder, 'dist/main.js');
}

const sdk = (name: string) =>
  import(join(PACKAGES, `@modelcontextprotocol/client/dist/${name}.mjs`));

function environment(): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    CATALOGUE_URL: gate.url,
    CLIENT_ID: service.clientID,
    ACCESS_TOKEN: service.token,
  };
}

/** A client of the SDK that speaks by a transport. */
async function connected(transport: unknown, mode: string): Promise<Speaker> {
  const { Client } = await sdk('index');
  const identity = { name: 'test', version: '1.0.0' };
  const client = new Client(identity, { versionNegotiation: { mode } });
  await client.connect(transport);
  clients.push(client);
  return client;
}

/** A client of a server that it starts, with the process of the server. */
async function overStdio(
  mode = 'auto',
  variables: Record<string, string> = {},
  args: readonly string[] = [program],
) {
  const { StdioClientTransport } = await sdk('stdio');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    env: { ...environment(), ...variables },
    stderr: 'pipe',
  });
  transport.stderr.on('data', (chunk: Buffer) => (written += chunk.toString()));
  return connected(transport, mode);
}

/** Calls a tool. */
async function call(client: Speaker, name: string, input: object | null = {}) {
  const result = await client.callTool({ name, arguments: input });
  written += JSON.stringify(result);
  // What the text has would cost a model twice.
  expect(result).not.toHaveProperty('structuredContent');
  return result;
}

/** What a tool gives. */
async function given(client: Speaker, name: string, input: object | null = {}): Promise<Json> {
  const { isError, content } = await call(client, name, input);
  expect([isError, content]).toEqual([undefined, [{ type: 'text', text: expect.any(String) }]]);
  return JSON.parse(content[0].text);
}

const undefinedParameter = (name: string) =>
  `The parameter ${name} must not be present in this request`;

/** The result of a call that the service refuses. */
function refused(msg: unknown, errcode?: string): object {
  const text = errcode === undefined ? msg : `${String(msg)} (${errcode})`;
  return { isError: true, content: [{ type: 'text', text }] };
}

const EXACT = 'Values must be exact, and identifiers are not names: find them by';

describeServer('The MCP server', () => {
  let client: Speaker;

  beforeAll(async () => {
    service = await startWith(OthersModule, {
      before: [`SELECT install_words('test_samples', '{note}')`, ...KEYED_WORDS],
    });
    await loadDemonstration(PROJECT, service.dataSource);
    await service.load('test_integer_nodes', [{ nodeID: '7', kind: 'LEAF', name: 'Seven' }]);
    await service.load('test_lots', [{ lotID: 'a', colour: 'red' }]);
    gate = await Gate.before(`http://127.0.0.1:${service.port}`);
    scratch = await mkdtemp(join(tmpdir(), 'catalogue-mcp-'));
    program = await built();
    catalogue = await copiedService(scratch);
    client = await overStdio();
  });
  afterAll(async () => {
    for (const each of clients) await each.close();
    await gate.shut();
    await service.stop();
    await rm(scratch, { recursive: true });
  });

  describe.each(REVISIONS)('in the revision %s', (revision, mode) => {
    it('holds the session of its README', async () => {
      const { fences } = fencesOf(await readFile(join(FOLDER, 'README.md'), 'utf8'));
      const session = fences
        .filter(({ heading }) => heading === 'A session')
        .map(({ text }) => JSON.parse(text));
      expect(session.length).toBe(22);
      const speaker = await overStdio(mode, {}, [catalogue, 'mcp']);
      expect(speaker.getNegotiatedProtocolVersion()).toBe(revision);
      for (let at = 0; at < session.length; at += 2) {
        const { name, arguments: input } = session[at];
        const { content, isError = false } = await call(speaker, name, input);
        const result = isError ? content[0].text : JSON.parse(content[0].text);
        expect(result).toEqual(session[at + 1]);
        expect(isError).toBe(typeof result === 'string');
      }
    });
  });

  describe('has tools that follow from the document:', () => {
    let tools: ToolDefinition[];
    beforeAll(async () => {
      ({ tools } = await client.listTools());
      written += JSON.stringify(tools);
    });

    it('three for a resource, one less where it has no counted fields', () => {
      const names = tools.map(({ name }) => name);
      // A project may have more resources.
      expect(names).toEqual(
        expect.arrayContaining([
          ...['search_products', 'get_product', 'count_products'],
          ...['search_categories', 'get_category', 'search_brands', 'get_brand'],
          ...['search_test_lots', 'get_lot', 'count_test_lots'],
        ]),
      );
      expect(names).not.toContain('count_brands');
      expect(names.filter((name) => /delet|docs|openapi/.test(name))).toEqual([]);
      expect(new Set(names).size).toBe(names.length);
    });

    it('they know which parameters the service takes for filters', async () => {
      const { filtersOf, parametersOf } = await import(
        join(scratch, 'packages/mcp/dist/document.js')
      );
      const { body } = await service.anonymous().get('/openapi.json').expect(200);
      const list = body.paths['/products'].get;
      const names = parametersOf(list).map(({ name }: Json) => name);
      expect(filtersOf(list).map(({ name }: Json) => name)).toEqual(
        names.filter((name: string) => !NON_FILTERS.has(name)),
      );
    });

    it('they describe a parameter with one default, that of the tool', () => {
      for (const { inputSchema } of tools) {
        for (const { description } of Object.values(inputSchema.properties))
          expect(description).not.toMatch(/(Default: |unless given).*Default: /);
      }
      const [search] = tools.filter(({ name }) => name === 'search_products');
      expect(search?.inputSchema.properties.fields?.description).toMatch(/ Default: productID,/);
    });

    it('they take the parameters of their paths, and no credentials', async () => {
      const { body } = await service.anonymous().get('/openapi.json').expect(200);
      for (const [path, name] of [
        ['/products', 'search_products'],
        ['/products/{productID}', 'get_product'],
        ['/facets/products', 'count_products'],
        ['/test_samples', 'search_test_samples'],
      ] as const) {
        const parameters = body.paths[path].get.parameters.filter((each: Json) => each.schema);
        const { properties, ...schema } = tools.find((each) => each.name === name)?.inputSchema ?? {
          properties: {},
        };
        expect(schema).toEqual({
          type: 'object',
          required: name === 'get_product' ? ['productID'] : [],
        });
        expect(Object.keys(properties)).toEqual(parameters.map((each: Json) => each.name));
      }
      const text = JSON.stringify(tools);
      expect(text).not.toMatch(/"\$ref"|clientID|access_token|authorization|x-client-id/i);
    });

    it('their schemas have what every host takes, for columns of every type', () => {
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining([
          ...['search_test_samples', 'get_sample', 'count_test_samples'],
          ...['integer', 'bigint', 'uuid'].map((type) => `search_test_${type}_nodes`),
        ]),
      );
      for (const { name, inputSchema } of tools) {
        expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        for (const [key, property] of Object.entries(inputSchema.properties)) {
          expect({ [`${name} ${key}`]: property }).toEqual({
            [`${name} ${key}`]: { description: expect.any(String), ...portable(property) },
          });
        }
      }
    });

    /** A schema as the hosts take it that take least, such as those of Gemini. */
    function portable(schema: Json): object {
      const { type, enum: values, items, format } = schema;
      expect(['string', 'integer', 'number', 'boolean', 'array']).toContain(type);
      if (type === 'array') return { type, items: portable(items) };
      if (values === undefined) return { type, ...(format === 'date-time' && { format }) };
      expect(type).toBe('string');
      expect(values.filter((value: unknown) => typeof value !== 'string' || !value)).toEqual([]);
      return { type, enum: values };
    }

    it('their descriptions say what there is to know before a call', () => {
      const of = (tool: string) => {
        const found = tools.find(({ name }) => name === tool);
        if (!found) throw new Error(`There is no ${tool}`);
        const { description, inputSchema } = found;
        const about = (name: string) => inputSchema.properties[name]?.description ?? '';
        return { description, about };
      };
      const search = of('search_products');
      expect(search.description).toContain(
        'identifiers are not names: find them by count_products',
      );
      expect(search.about('limit')).toMatch(/ Default: 10, at most 1000\.$/);
      expect(search.about('fields')).toMatch(
        / Default: productID,refID,type,name,brandID,categoryID,price,currency,stock,colours\.$/,
      );
      expect(search.about('within')).toContain('["outdoor"]');
      expect(search.about('coloursAll')).toContain('["red"]');
      expect(search.about('variant')).not.toContain('["a","b"]');
      const count = of('count_products');
      expect(count.description).toContain(
        'Filters on a field do not narrow the counts of that field',
      );
      expect(count.description).toContain('facetStarts');
      expect(count.about('facets')).toContain(
        'Numbers, times, trees and what tells whether there is a value are counted if they are named.',
      );
      expect(count.about('facets')).toContain(
        ' Default: `type,brandID,categoryID,currency,colours,inStock`.',
      );
      expect(of('search_test_samples').about('fields')).toMatch(
        / Default: sampleID,day,weight,tags,sizes,owner,serial,odd\.$/,
      );
    });

    it('they are marked as reading alone', () => {
      const marks = new Set(tools.map(({ annotations }) => JSON.stringify(annotations)));
      expect([...marks]).toEqual(['{"readOnlyHint":true,"openWorldHint":false}']);
    });

    it('each takes the examples of the document', async () => {
      const { body } = await service.anonymous().get('/openapi.json').expect(200);
      const refusals: unknown[] = [];
      for (const [name, path] of [
        ['search_products', '/products'],
        ['count_products', '/facets/products'],
        ['search_variants', '/variants'],
      ] as const) {
        for (const { name: key, schema } of body.paths[path].get.parameters) {
          // They need another parameter beside them.
          if (!schema || ['after', 'bounds', 'facetStarts'].includes(key)) continue;
          const { isError, content } = await call(client, name, {
            [key]: schema.examples[0],
          });
          if (isError) refusals.push([name, key, content]);
        }
      }
      expect(refusals).toEqual([]);
    });
  });

  it('knows a resource that the types of the client do not', async () => {
    const found = await given(client, 'search_test_lots', { colour: 'red', fields: ['lotID'] });
    expect(found).toEqual({
      test_lots: [{ lotID: 'a' }],
      pagination: { total_count: 1, has_next_page: false },
    });
    const lot = await given(client, 'get_lot', { lotID: 'a', fields: ['colour'] });
    expect(lot).toEqual({ lot: { colour: 'red' } });
  });

  it('finds by a value that has a comma', async () => {
    const found = await given(client, 'search_products', { brandID: ['a,b'], fields: ['name'] });
    expect(found).toMatchObject({ products: [], pagination: { total_count: 0 } });
  });

  it('leads through all pages by the cursor', async () => {
    const query = { within: ['outdoor'], sort: ['-price'], fields: ['productID'], limit: 100 };
    const found: string[] = [];
    let page: Json;
    do {
      const after = page?.pagination.cursor;
      page = await given(client, 'search_products', { ...query, after });
      found.push(...page.products.map(({ productID }: Json) => productID));
    } while (page.pagination.has_next_page);
    expect(found.length).toBe(page.pagination.total_count);
    expect(found.length).toBeGreaterThan(300);
    expect(new Set(found).size).toBe(found.length);
    expect(page.pagination).not.toHaveProperty('cursor');
  });

  it.each<[input: object, msg: unknown, errcode: string | undefined, tool?: string]>([
    [{ Limit: 1 }, undefinedParameter('Limit'), '-23'],
    [{ limit: 5000 }, 'The parameter limit must be between 0 and 1000', '-26'],
    [{ limit: 'ten' }, 'The parameter limit must be a plain decimal integer', '-22'],
    [{ access_token: 'x' }, 'The parameter access_token must be given only once', '-14'],
    [{ clientID: 'demo' }, 'The parameter clientID must be given only once', '-14'],
    [{ filters: { colour: 'red' } }, undefinedParameter('filters'), '-23'],
    [{ filters: [{ colour: 'red' }] }, undefinedParameter('filters'), '-23'],
    [
      { priceMin: { value: 10 } },
      'The parameter priceMin must be a text, not {"value":10}',
      undefined,
    ],
    [{ inStock: {} }, 'The parameter inStock must be true or false, not {}', undefined],
    [
      { colours: [{ is: 'red' }] },
      'The parameter colours must be a list, each item a text, not {"is":"red"}',
      undefined,
      'count_products',
    ],
    [
      { sort: ['price'] },
      'The parameter sort must not name price; it may name brandID, name',
      '-25',
      'search_brands',
    ],
    ...[{}, { productID: '' }, { productID: null }].map(
      (input): [object, string, undefined, string] => [
        input,
        'The parameter productID is required',
        undefined,
        'get_product',
      ],
    ),
    [{ productID: 7 }, 'There is no products object 7', '-31', 'get_product'],
    [{ productID: 'p/../x?y#' }, 'There is no products object p/../x?y#', '-31', 'get_product'],
    [{ productID: '..' }, "productID: '..' cannot be in a path", undefined, 'get_product'],
    [{ productID: '\ud800' }, 'URI malformed', undefined, 'get_product'],
  ])('explains what is wrong with %j', async (input, msg, errcode, tool = 'search_products') => {
    expect(await call(client, tool, input)).toMatchObject(refused(msg, errcode));
  });

  describe('takes what hosts make of arguments:', () => {
    const few = { fields: ['productID', 'colours'], limit: 2 };

    it('null, "" and an empty list are absent', async () => {
      const all = {
        q: null,
        brandID: '',
        colours: [],
        type: [''],
        priceMin: null,
        sort: '',
        ...few,
      };
      expect(await given(client, 'search_products', all)).toEqual(
        await given(client, 'search_products', few),
      );
      const lot = { lotID: 'a', fields: [null], include: '' };
      expect(await given(client, 'get_lot', { lotID: lot.lotID, fields: lot.fields })).toEqual(
        await given(client, 'get_lot', { lotID: 'a' }),
      );
      const counted = { facets: '', facetStarts: null, bounds: [], limit: null };
      expect(await given(client, 'count_products', counted)).toEqual(
        await given(client, 'count_products'),
      );
    });

    it('a list in a text is a list', async () => {
      const found = await given(client, 'search_products', {
        ...few,
        colours: '["red", "blue"]',
        fields: '["productID","colours"]',
      });
      expect(found).toEqual(
        await given(client, 'search_products', { ...few, colours: ['red', 'blue'] }),
      );
      expect(found.pagination.total_count).toBeGreaterThan(300);
      const broken = await given(client, 'search_products', { ...few, colours: '["red"' });
      expect(broken.pagination.total_count).toBe(0);
    });

    it.each(REVISIONS)('null is no arguments, in the revision %s', async (_, mode) => {
      const speaker = await overStdio(mode);
      expect(await given(speaker, 'search_brands', null)).toEqual(
        await given(client, 'search_brands', {}),
      );
    });

    it('a number is an identifier', async () => {
      const node = { nodeID: 7, fields: ['name'] };
      const name = 'get_testinteger_node';
      expect(await given(client, name, node)).toEqual({ testinteger_node: { name: 'Seven' } });
      expect(await given(client, name, { ...node, nodeID: '7' })).toEqual({
        testinteger_node: { name: 'Seven' },
      });
      const found = await given(client, 'search_test_integer_nodes', { nodeID: [7, '8'] });
      expect(found.test_integer_nodes).toMatchObject([{ nodeID: 7, name: 'Seven' }]);
    });
  });

  it('counts products by total_count in each tool, and values by value_count', async () => {
    const filters = { q: 'wool bean*', currency: ['GBP'] };
    const { pagination } = await given(client, 'search_products', { ...filters, limit: 1 });
    const counted = await given(client, 'count_products', { ...filters, facets: ['currency'] });
    expect(pagination.total_count).toBe(9);
    // The counts of a field ignore its own filter.
    expect(counted).toMatchObject({ value_count: 3, total_count: 9 });
    expect(counted.facets.map(({ count }: Json) => count)).toEqual([9, 4, 3]);
  });

  it.each([
    [
      'search_products',
      { brandID: ['Halvorsund'], q: 'wool' },
      `brandID, q. ${EXACT} count_products with facets ["brandID","q"] or search_brands.`,
    ],
    [
      'search_products',
      { coloursAll: ['mauve'], within: 'Outdoor' },
      `within, coloursAll. ${EXACT} count_products with facets ["colours","within"].`,
    ],
    ['search_variants', { productID: 'p' }, `productID. ${EXACT} search_products.`],
    [
      'search_products',
      { brandIDExists: true, q: 'zzz' },
      `brandIDExists, q. ${EXACT} count_products with facets ["brandID","q"] or search_brands.`,
    ],
    ['search_products', { q: 'zzz' }, `q. ${EXACT} count_products with facets ["q"].`],
    [
      'search_brands',
      { offset: 0, brandID: 'a' },
      'brandID. Leave out a filter, or shorten its value.',
    ],
    ['search_test_uuid_nodes', {}, undefined],
    ['search_products', { offset: 5000, type: 'PHYSICAL' }, undefined],
  ])('says where values come from if %s finds nothing: %j', async (name, input, hint) => {
    const kind = name.replace('search_', '');
    expect((await given(client, name, input)).hint).toBe(hint && `No ${kind} match ${hint}`);
  });

  it('finds an identifier by the beginning of a name', async () => {
    const { facets } = await given(client, 'count_products', {
      facets: ['brandID'],
      facetStarts: 'halv',
    });
    expect(facets).toEqual([
      { field: 'brandID', value: 'halvorsund', label: 'Halvorsund', count: 101 },
    ]);
  });

  it('shows ten objects with few fields unless told otherwise', async () => {
    const result = await call(client, 'search_products');
    // All fields of fifty objects have 26,000, which structured content doubled.
    expect(JSON.stringify(result).length).toBeLessThan(4000);
    const { products } = JSON.parse(result.content[0].text);
    expect(products.length).toBe(10);
    expect(Object.keys(products[0])).toEqual([
      ...['productID', 'refID', 'type', 'name', 'brandID', 'categoryID'],
      ...['price', 'currency', 'stock', 'colours'],
    ]);
    const { product } = await given(client, 'get_product', { productID: 'p-000001' });
    expect(Object.keys(product)).toContain('description');
  });

  it('explains that an identifier is too long for a URL', async () => {
    const result = await call(client, 'get_product', { productID: 'x'.repeat(100_000) });
    expect(result).toMatchObject(refused('The request is too large', '-34'));
  });

  it('has no tool but those it lists', async () => {
    for (const name of ['search_catalog', 'toString', '__proto__']) {
      const refusal = call(client, name);
      await expect(refusal).rejects.toMatchObject({ code: -32602 });
    }
  });

  it('refuses a result that would fill the context of a model', async () => {
    const { isError, content } = await call(client, 'search_products', { limit: 1000 });
    expect(isError).toBe(true);
    expect(content[0].text).toMatch(/^The result has \d{6} characters, and 80000 is the maximum: /);
    const few = await given(client, 'search_products', { limit: 1000, fields: ['productID'] });
    expect(few.products.length).toBe(1000);
  });

  it('gives calls side by side each its own result', async () => {
    const found = await Promise.all(
      Array.from({ length: 200 }, (_, offset) =>
        given(client, 'search_products', { offset, limit: 1, fields: ['productID'] }),
      ),
    );
    const { body } = await service.get('/products?limit=200&fields=productID').expect(200);
    expect(found.map(({ products }) => products[0])).toEqual(body.response_data.objects);
  });

  it('stays while the service is away, and works when it is back', async () => {
    await gate.shut();
    const away = await call(client, 'get_product', { productID: 'p-000006' });
    const waiting = given(client, 'get_product', { productID: 'p-000006', fields: ['refID'] });
    await gate.open();
    // The client tries again by itself.
    expect(await waiting).toEqual({ product: { refID: 'TRV-73667-S-BUR' } });
    const address = gate.url.replace(/\/$/, '');
    expect(away).toMatchObject(refused(`The catalogue at ${address} cannot be reached`));
  });

  it('says that its token was revoked', async () => {
    const tokens = service.application.get(ClientsService);
    const { tokenID, token } = await tokens.issue(service.clientID, null);
    const holder = await overStdio('auto', { ACCESS_TOKEN: token });
    expect(await call(holder, 'search_brands', { limit: 1 })).not.toHaveProperty('isError');
    await tokens.revoke(tokenID);
    await eventually(async () => {
      const result = await call(holder, 'search_brands', { limit: 1 });
      expect(result).toMatchObject(refused('The credentials are not valid', '-11'));
    }, 15_000);
    expect(written).not.toContain(token);
  });

  it('offers what its client may read', async () => {
    const registered = service.application.get(ClientsService);
    await registered.create('narrow', { resources: ['products'], hidden: ['products.price'] });
    const { token } = await registered.issue('narrow', null);
    const narrow = await overStdio('auto', { CLIENT_ID: 'narrow', ACCESS_TOKEN: token });
    const { tools } = await narrow.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'search_products',
      'get_product',
      'count_products',
    ]);
    const { properties } = tools[0]?.inputSchema ?? { properties: {} };
    expect(Object.keys(properties)).toContain('stockMin');
    expect(Object.keys(properties)).not.toContain('priceMin');
  });

  it.each(['catalogue-mcp', 'catalogue mcp'])(
    'as %s, it ends when its host closes the pipe, and writes nothing but the protocol',
    async (name) => {
      const args = name === 'catalogue mcp' ? [catalogue, 'mcp'] : [program];
      const server = spawn(process.execPath, args, { env: environment(), stdio: 'pipe' });
      const ended = once(server, 'exit');
      let [stdout, stderr] = ['', ''];
      server.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
      server.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'test', version: '1.0.0' },
      };
      const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
      server.stdin.write(`${JSON.stringify(message)}\n`);
      await eventually(() => {
        expect(stdout).toMatch(/\n$/);
      }, 15_000);
      server.stdin.end();
      expect(await ended).toEqual([0, null]);
      expect(JSON.parse(stdout)).toMatchObject({ jsonrpc: '2.0', id: 1 });
      expect(JSON.parse(stdout).result.instructions).toMatch(
        /^A catalogue of products, .*brands.*\. It can be read, not changed\./,
      );
      expect(stderr).toBe('');
    },
  );

  it('is found by the service in its own packages, and said to be missing in one line', async () => {
    const shop = join(scratch, 'shop');
    const service = await copiedService(shop);
    const start = () => runNode([service, 'mcp'], { environment: { CLIENT_ID: 'demo' } });
    expect(await start()).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^catalogue: The command needs @catalogue\/mcp: .*\n$/),
    });
    await mkdir(join(shop, 'node_modules/@catalogue'), { recursive: true });
    await symlink(join(scratch, 'packages/mcp'), join(shop, 'node_modules/@catalogue/mcp'));
    expect(await start()).toMatchObject({ status: 1, stderr: 'ACCESS_TOKEN is not set\n' });
  });

  describe('does not start', () => {
    it.each([
      [1, {}, [], 'ACCESS_TOKEN is not set'],
      [
        1,
        { ACCESS_TOKEN: 's3cret', CATALOGUE_URL: 'http://127.0.0.1:1' },
        [],
        'The catalogue at http://127.0.0.1:1 cannot be reached',
      ],
      [
        1,
        { ACCESS_TOKEN: 's3cret', CATALOGUE_URL: 'http://me:s3cret@127.0.0.1' },
        [],
        'url must be of http, without @',
      ],
      [1, { ACCESS_TOKEN: 's3\ncret' }, [], 'clientID or accessToken cannot be in a header'],
      [2, {}, ['--http', '70000'], '--http must be a port'],
      [2, {}, ['--token', 's3cret'], "Unknown option '--token'"],
    ])('but ends with status %i and one line: %j %j', async (status, variables, args, line) => {
      const result = await runNode([program, ...args], {
        environment: { CLIENT_ID: 'demo', ...variables },
      });
      const [first, ...more] = result.stderr.trimEnd().split('\n');
      expect([result.status, first, result.stdout]).toEqual([status, line, '']);
      expect(more.length).toBe(status === 2 ? 1 : 0);
      expect(result.stderr).not.toContain('s3cret');
      const asCommand = await runNode([catalogue, 'mcp', ...args], {
        environment: { CLIENT_ID: 'demo', ...variables },
      });
      expect(asCommand).toEqual(result);
    });

    it('if the service refuses the credentials', async () => {
      const { status, stderr } = await runNode([program], {
        environment: { ...environment(), ACCESS_TOKEN: 's3cret' },
      });
      expect([status, stderr]).toEqual([1, 'The credentials are not valid\n']);
    });

    it('if something else answers', async () => {
      const CATALOGUE_URL = `http://127.0.0.1:${service.port}/docs`;
      const { status, stderr } = await runNode([program], {
        environment: { ...environment(), CATALOGUE_URL },
      });
      expect([status, stderr]).toEqual([1, `There is no catalogue at ${CATALOGUE_URL}\n`]);
    });
  });

  describe('by HTTP', () => {
    let server: ReturnType<typeof spawn>;
    let url: string;

    beforeAll(async () => {
      const args = [program, '--http', '0', '--allowed-host', 'tools.example.com'];
      const env = { ...BARE_ENVIRONMENT, ...environment() };
      server = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
      const [line] = await once(server.stderr ?? server, 'data');
      url = /http:\S+/.exec(String(line))?.[0] ?? '';
    });
    afterAll(async () => {
      server.kill('SIGTERM');
      if (server.exitCode === null) await once(server, 'exit');
      expect(server.exitCode).toBe(0);
    });

    it('listens on the loopback address alone', () => {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    });

    it.each(REVISIONS)('serves %s without sessions', async (revision, mode) => {
      const { StreamableHTTPClientTransport } = await sdk('index');
      const transport = new StreamableHTTPClientTransport(new URL(url));
      const speaker = await connected(transport, mode);
      expect(speaker.getNegotiatedProtocolVersion()).toBe(revision);
      expect(transport.sessionId).toBeUndefined();
      const [{ tools }, { tools: others }] = [await speaker.listTools(), await client.listTools()];
      expect(tools).toEqual(others);
      const [found, wrong] = await Promise.all([
        given(speaker, 'search_products', { limit: 1, fields: ['productID'] }),
        call(speaker, 'search_products', { colour: 'red' }),
      ]);
      expect(found.products).toEqual([{ productID: 'p-000001' }]);
      const msg = 'The parameter colour must not be present in this request';
      expect(wrong).toMatchObject(refused(msg, '-23'));
    });

    /** Sends one call, and gives the status. */
    async function statusOf(headers: Record<string, string>, path = '/mcp', method = 'POST') {
      const { request } = await import('node:http');
      const params = { name: 'search_brands', arguments: { limit: 1 } };
      const sent = request(new URL(path, url), {
        method,
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...headers,
        },
      });
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      sent.end(method === 'POST' ? JSON.stringify(message) : undefined);
      const [response] = await once(sent, 'response');
      response.on('data', (chunk: Buffer) => (written += chunk.toString()));
      await once(response, 'close');
      return response.statusCode;
    }

    it.each([
      [200, {}],
      [200, { Host: 'localhost:1' }],
      [200, { Host: 'tools.example.com', Origin: 'https://tools.example.com' }],
      [403, { Host: 'attacker.example' }],
      [403, { Host: '127.0.0.1.attacker.example' }],
      [403, { Origin: 'https://attacker.example' }],
      [403, { Origin: 'null' }],
    ])('answers %i to %j', async (status, headers) => {
      expect(await statusOf(headers as Record<string, string>)).toBe(status);
    });

    it('has one path and one method', async () => {
      expect(await statusOf({}, '/')).toBe(404);
      expect(await statusOf({}, '/mcp', 'GET')).toBe(405);
      expect(await statusOf({}, '/mcp', 'DELETE')).toBe(405);
    });
  });

  it('has written no credential', () => {
    expect(written.length).toBeGreaterThan(10_000);
    expect(written).not.toContain(service.token);
    expect(written).not.toContain('Bearer');
  });
});
