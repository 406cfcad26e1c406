import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ClientsService } from '../../src/clients/clients.service.js';
import { loadDemonstration } from '../../src/demo/load-demonstration.js';
import { BARE_ENVIRONMENT, runNode } from '../cli/catalogue.js';
import { fencesOf } from '../docs/markdown.js';
import { Gate } from '../faults/gate.js';
import { type Service, startService } from '../service.js';
import { withTool } from '../tools.js';
import { eventually } from '../until.js';
import { LOTS, LotsModule } from './lot.fixture.js';

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
  readonly annotations: object;
  readonly inputSchema: { readonly properties: Record<string, { readonly examples: unknown[] }> };
}

/** What the tests use of the client of the SDK, whose types are only there if it is installed. */
interface Speaker {
  getNegotiatedProtocolVersion(): string;
  listTools(): Promise<{ tools: ToolDefinition[] }>;
  callTool(params: { name: string; arguments: object }): Promise<Json>;
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
async function overStdio(mode = 'auto', variables: Record<string, string> = {}) {
  const { StdioClientTransport } = await sdk('stdio');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program],
    env: { ...environment(), ...variables },
    stderr: 'pipe',
  });
  transport.stderr.on('data', (chunk: Buffer) => (written += chunk.toString()));
  return connected(transport, mode);
}

/** Calls a tool. */
async function call(client: Speaker, name: string, input: object = {}) {
  const result = await client.callTool({ name, arguments: input });
  written += JSON.stringify(result);
  return result;
}

/** The result of a call that the service refuses. */
function refused(msg: string, errcode?: string): object {
  const content = [{ type: 'text', text: msg }];
  return { isError: true, content, structuredContent: errcode ? { errcode, msg } : { msg } };
}

describeServer('The MCP server', () => {
  let client: Speaker;

  beforeAll(async () => {
    service = await startService({}, LotsModule);
    await service.dataSource.query(LOTS);
    await loadDemonstration(service.dataSource);
    await service.load('test_lots', [{ lotID: 'a', colour: 'red' }]);
    gate = await Gate.before(`http://127.0.0.1:${service.port}`);
    scratch = await mkdtemp(join(tmpdir(), 'catalogue-mcp-'));
    program = await built();
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
      expect(session.length).toBe(12);
      const speaker = await overStdio(mode);
      expect(speaker.getNegotiatedProtocolVersion()).toBe(revision);
      for (let at = 0; at < session.length; at += 2) {
        const { name, arguments: input } = session[at];
        const { structuredContent, content, isError = false } = await call(speaker, name, input);
        expect(structuredContent).toEqual(session[at + 1]);
        expect(isError).toBe('errcode' in structuredContent);
        const text = isError ? structuredContent.msg : JSON.stringify(structuredContent);
        expect(content).toEqual([{ type: 'text', text }]);
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

    it('they take the parameters of their paths, and no credentials', async () => {
      const { body } = await service.anonymous().get('/openapi.json').expect(200);
      for (const [path, name] of [
        ['/products', 'search_products'],
        ['/products/{productID}', 'get_product'],
        ['/facets/products', 'count_products'],
      ] as const) {
        const parameters = body.paths[path].get.parameters.filter((each: Json) => each.schema);
        const schema = tools.find((each) => each.name === name)?.inputSchema;
        expect(schema).toEqual({
          type: 'object',
          properties: Object.fromEntries(
            parameters.map(({ name: key, description, schema: type }: Json) => [
              key,
              { description, ...type },
            ]),
          ),
          required: name === 'get_product' ? ['productID'] : [],
          additionalProperties: false,
        });
      }
      const text = JSON.stringify(tools);
      expect(text).not.toMatch(/"\$ref"|clientID|access_token|authorization|x-client-id/i);
    });

    it('they are marked as reading alone', () => {
      const marks = new Set(tools.map(({ annotations }) => JSON.stringify(annotations)));
      expect([...marks]).toEqual(['{"readOnlyHint":true,"openWorldHint":false}']);
    });

    it('each takes the example of each of its parameters', async () => {
      const refusals: unknown[] = [];
      for (const { name, inputSchema } of tools.filter((each) => !each.name.startsWith('get_'))) {
        for (const [key, schema] of Object.entries(inputSchema.properties)) {
          // They need another parameter beside them.
          if (['after', 'bounds', 'facetStarts'].includes(key)) continue;
          const { isError, content } = await call(client, name, { [key]: schema.examples[0] });
          if (isError) refusals.push([name, key, content]);
        }
      }
      expect(refusals).toEqual([]);
    });
  });

  it('knows a resource that the types of the client do not', async () => {
    const found = await call(client, 'search_test_lots', { colour: 'red', fields: ['lotID'] });
    expect(found.structuredContent).toEqual({
      test_lots: [{ lotID: 'a' }],
      pagination: { total_count: 1, has_next_page: false },
    });
    const { structuredContent } = await call(client, 'get_lot', { lotID: 'a', fields: ['colour'] });
    expect(structuredContent).toEqual({ lot: { colour: 'red' } });
  });

  it('leads through all pages by the cursor', async () => {
    const query = { within: ['outdoor'], sort: ['-price'], fields: ['productID'], limit: 100 };
    const found: string[] = [];
    let page: Json;
    do {
      const after = page?.pagination.cursor;
      page = (await call(client, 'search_products', { ...query, after })).structuredContent;
      found.push(...page.products.map(({ productID }: Json) => productID));
    } while (page.pagination.has_next_page);
    expect(found.length).toBe(page.pagination.total_count);
    expect(found.length).toBeGreaterThan(300);
    expect(new Set(found).size).toBe(found.length);
    expect(page.pagination).not.toHaveProperty('cursor');
  });

  it.each([
    [
      'search_products',
      { Limit: 1 },
      'The parameter Limit must not be present in this request',
      '-23',
    ],
    ['search_products', { limit: 5000 }, 'The parameter limit must be between 0 and 1000', '-26'],
    [
      'search_products',
      { limit: 'ten' },
      'The parameter limit must be a plain decimal integer',
      '-22',
    ],
    ['search_brands', { sort: ['price'] }, expect.stringContaining('it may name'), '-25'],
    [
      'search_products',
      { access_token: 'x' },
      'The parameter access_token must be given only once',
      '-14',
    ],
    [
      'search_products',
      { clientID: 'demo' },
      'The parameter clientID must be given only once',
      '-14',
    ],
    ['search_products', { priceMin: null }, 'priceMin: null has no text', undefined],
    [
      'search_products',
      { brandID: ['a,b'] },
      expect.stringContaining('contains a comma'),
      undefined,
    ],
    ['get_product', {}, 'The parameter productID is required', undefined],
    ['get_product', { productID: 7 }, 'The parameter productID is required', undefined],
    ['get_product', { productID: 'p/../x?y#' }, 'There is no products object p/../x?y#', '-31'],
    ['get_product', { productID: '..' }, 'productID: .. cannot be in a URL', undefined],
    ['get_product', { productID: '\ud800' }, 'URI malformed', undefined],
  ])('explains what is wrong with %s %j', async (name, input, msg, errcode) => {
    expect(await call(client, name, input)).toMatchObject(refused(msg as string, errcode));
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
    const few = await call(client, 'search_products', { limit: 1000, fields: ['productID'] });
    expect(few.structuredContent.products.length).toBe(1000);
  });

  it('gives calls side by side each its own result', async () => {
    const found = await Promise.all(
      Array.from({ length: 200 }, (_, offset) =>
        call(client, 'search_products', { offset, limit: 1, fields: ['productID'] }),
      ),
    );
    const { body } = await service.get('/products?limit=200&fields=productID').expect(200);
    expect(found.map(({ structuredContent }) => structuredContent.products[0])).toEqual(
      body.response_data.objects,
    );
  });

  it('stays while the service is away, and works when it is back', async () => {
    await gate.shut();
    const away = await call(client, 'get_product', { productID: 'p-000006' });
    const waiting = call(client, 'get_product', { productID: 'p-000006', fields: ['refID'] });
    await gate.open();
    // The client tries again by itself.
    expect((await waiting).structuredContent).toEqual({ product: { refID: 'TRV-73667-S-BUR' } });
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

  it('ends when its host closes the pipe', async () => {
    const server = spawn(process.execPath, [program], { env: environment(), stdio: 'pipe' });
    const ended = once(server, 'exit');
    server.stdin.end();
    expect(await ended).toEqual([0, null]);
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
        call(speaker, 'search_products', { limit: 1, fields: ['productID'] }),
        call(speaker, 'search_products', { colour: 'red' }),
      ]);
      expect(found.structuredContent.products).toEqual([{ productID: 'p-000001' }]);
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
