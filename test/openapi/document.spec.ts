import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ClientCache } from '#server/clients/client-cache.js';
import { ClientsService } from '#server/clients/clients.service.js';
import { demoRows } from '#server/demo/load-demonstration.js';
import { endpointsOf } from '#server/http/endpoints.js';
import { withFacets } from '#server/list/facets/facet-endpoints.js';
import { errors } from '#server/http/errors.js';
import { parametersOf } from '#server/http/parameters/declared-parameters.js';
import { SECURITY_HEADERS } from '#server/http/server/headers.js';
import { rawRequest, type RawResponse } from '../http/raw-request.js';
import { SuppliersModule } from '../list/supplier.fixture.js';
import { sharedService, startService, whileOverloaded } from '../service.js';
import { advanceWatermark } from '../watermark.js';

const service = sharedService({ MAX_LIMIT: '20', RATE_LIMIT_PER_MINUTE: '7000' });
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- JSON, whose shape is what the test asserts
let document: any;
/** Headers with the credentials of clients, by the state of the client. */
let clients: Record<'known' | 'expired' | 'disabled' | 'narrow' | 'hurried', string>;

beforeAll(async () => {
  await service.load('brands', [{ brandID: 'b1', name: 'B' }]);
  await service.load('categories', [{ categoryID: 'c1', name: 'C' }]);
  await service.load('products', [
    { productID: 'p1', type: 'PHYSICAL', brandID: 'b1', price: '1.50', currency: 'EUR' },
  ]);
  await advanceWatermark(service.dataSource, 2);
  document = (await service.anonymous().get('/openapi.json').expect(200)).body;
  const known = service.application.get(ClientsService);
  await known.create('disabled', {});
  const disabled = await known.issue('disabled', null);
  const narrow = await service.newClient('narrow', { resources: [] });
  const hurried = await service.newClient('hurried', { rateLimit: 1 });
  const expired = await known.issue(service.clientID, -1000);
  await known.update('disabled', { disabled: true });
  clients = {
    known: credentials(service.clientID, service.token),
    expired: credentials(service.clientID, expired.token),
    disabled: credentials('disabled', disabled.token),
    narrow: credentials('narrow', narrow.token),
    hurried: credentials('hurried', hurried.token),
  };
});

function credentials(clientID: string, token: string): string {
  return `X-Client-ID: ${clientID}\r\nAuthorization: Bearer ${token}\r\n`;
}

async function send(method: string, target: string, headers: string): Promise<RawResponse> {
  const head = `${method} ${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
  const [response] = await rawRequest(service.port, head);
  if (!response) throw new Error('There is no answer');
  return response;
}

/** Resolves a `$ref`. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
function at(node: any): any {
  const path: string[] = node?.$ref?.slice(2).split('/') ?? [];
  return path.length === 0 ? node : path.reduce((found, name) => found[name], document);
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addFormat('decimal', true);

const validators = new Map<string, ValidateFunction>();

function validator(path: string, status: number): ValidateFunction {
  const key = [path, status].join(' ');
  const known = validators.get(key);
  if (known) return known;
  const { content } = at(document.paths[path].get.responses[status]);
  const schema = { ...content['application/json'].schema, components: document.components };
  const made = ajv.compile(schema);
  validators.set(key, made);
  return made;
}

/** Headers that the document omits: those of HTTP itself and of Helmet. */
const UNSAID = new Set([
  ...['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'],
  ...SECURITY_HEADERS.map(([name]) => name.toLowerCase()),
]);

/** Validates a response to `GET` or `HEAD` against the document. */
function expectDocumented(path: string, response: RawResponse, method = 'get'): void {
  const described = at(document.paths[path].get.responses[response.status]);
  expect([path, response.status, described]).not.toContain(undefined);
  const named = new Map(
    Object.entries(described.headers ?? {}).map(([name, header]) => [name.toLowerCase(), header]),
  );
  for (const [name, value] of Object.entries(response.headers)) {
    if (UNSAID.has(name)) continue;
    expect([...named.keys()]).toContain(name);
    const { schema } = at(named.get(name));
    const typed = schema.type === 'integer' ? Number(value) : value;
    expect(ajv.validate(schema, typed) || `${name}: ${value}`).toBe(true);
  }
  if (method === 'head' || response.status === 304) return;
  const validate = validator(path, response.status);
  const isValid = validate(JSON.parse(response.body));
  expect({ path, errors: isValid ? [] : validate.errors }).toEqual({ path, errors: [] });
}

/** The URL of an existing object or list. */
function example(path: string): string {
  return path.replace(/\{(\w).*\}/, '$11');
}

function withQuery(url: string, query: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

function isFacets(url: string): boolean {
  return url.startsWith('/facets/');
}

/** The parameter of a URL that names fields. */
function namesOf(url: string): string {
  return isFacets(url) ? 'facets' : 'fields';
}

/** This parameter with a field that the URL has. */
function fieldOf(url: string): string {
  return isFacets(url) ? 'facets=type' : 'fields=updatedAt';
}

/** How to provoke each error, by errcode. Some need a fault of the service. */
const FAILURES: Record<string, (method: string, url: string) => Promise<RawResponse>> = {
  '-1': (method, url) => withFault(new Error('secret'), () => send(method, url, clients.known)),
  '-2': (method, url) => withFault(coded('ECONNREFUSED'), () => send(method, url, clients.known)),
  '-3': (method, url) => withFault(coded('57014'), () => send(method, url, clients.known)),
  '-4': (method, url) => whileOverloaded(service, () => send(method, url, clients.known)),
  '-10': (method, url) => send(method, url, ''),
  '-11': (method, url) => send(method, url, credentials('nobody', 'nothing')),
  '-12': (method, url) => send(method, url, clients.expired),
  '-13': (method, url) => send(method, url, clients.disabled),
  '-14': (method, url) => send(method, withQuery(url, 'clientID=tester'), clients.known),
  '-15': (method, url) => send(method, url, clients.narrow),
  '-20': (method, url) => send(method, withQuery(url, 'limit=%zz'), clients.known),
  '-22': (method, url) => send(method, withQuery(url, `${namesOf(url)}=`), clients.known),
  '-23': (method, url) => send(method, withQuery(url, 'nonsense=1'), clients.known),
  '-24': (method, url) =>
    send(method, withQuery(url, [1, 2].map(() => fieldOf(url)).join('&')), clients.known),
  '-25': (method, url) => send(method, withQuery(url, `${namesOf(url)}=nonsense`), clients.known),
  '-26': (method, url) => send(method, withQuery(url, 'limit=21'), clients.known),
  '-31': (method, url) => send(method, url.replace(/1$/, 'none'), clients.known),
  '-31 ': (method, url) => send(method, withQuery(url, 'after=none'), clients.known),
  '-34': (method, url) => send(method, withQuery(url, 'a'.repeat(17_000)), clients.known),
  '-34 ': (method, url) => send(method, url, `X-Large: ${'a'.repeat(40_000)}\r\n`),
  '-38': (method, url) => send(method, withQuery(url, `updatedSince=${LOST}`), clients.known),
  '-40': async (method, url) => {
    await send(method, url, clients.hurried);
    return send(method, url, clients.hurried);
  },
};

/** Of a history that never was. */
const LOST = `${new Date().toISOString().slice(0, 23)}${'0'.repeat(25)}Z`;

function coded(code: string): Error {
  return Object.assign(new Error('of the database'), { code });
}

async function withFault<T>(fault: Error, work: () => Promise<T>): Promise<T> {
  const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  const find = jest.spyOn(service.application.get(ClientCache), 'find').mockRejectedValue(fault);
  try {
    return await work();
  } finally {
    find.mockRestore();
    log.mockRestore();
  }
}

interface Example {
  readonly schema: object;
  readonly example: unknown;
}

/** The examples of all schemas, parameters and contents of responses in a document. */
function examplesIn(node: unknown): Example[] {
  if (typeof node !== 'object' || node === null) return [];
  const { schema, example, examples } = node as Record<string, unknown>;
  const own = Array.isArray(examples)
    ? examples.map((value: unknown) => ({ schema: node, example: value }))
    : Object.values(examples ?? {}).map((each) => ({
        schema: schema as object,
        example: (each as { value?: unknown }).value,
      }));
  const only = schema && example !== undefined ? [{ schema, example }] : [];
  return [...own, ...only, ...Object.values(node).flatMap(examplesIn)];
}

const RESOURCES = [
  ...['/products', '/products/{productID}', '/categories', '/categories/{categoryID}'],
  ...['/brands', '/brands/{brandID}', '/facets/products'],
];

describe('The OpenAPI document', () => {
  it('has every path that a client can ask for, and no other', () => {
    const known = withFacets(endpointsOf(service.application)).map(({ path }) =>
      path.replace(/:(\w+)/, '{$1}'),
    );
    // Behind the resources, so that the page begins with a list.
    const own = ['/changes', '/docs', '/openapi.json', '/llms.txt', '/llms-full.txt'];
    const ofResources = known.filter((path) => path !== '/changes');
    expect(Object.keys(document.paths)).toEqual([...ofResources, ...own]);
    expect(known).toEqual(expect.arrayContaining(RESOURCES));
  });

  it('has the parameters that each query class takes, the credentials among the security', () => {
    for (const { path, query } of withFacets(endpointsOf(service.application))) {
      const { parameters } = document.paths[path.replace(/:(\w+)/, '{$1}')].get;
      const documented = parameters
        .map(at)
        .filter((parameter: { in: string }) => parameter.in === 'query')
        .map(({ name }: { name: string }) => name);
      expect([...documented, 'clientID', 'access_token'].sort()).toEqual(
        [...parametersOf(query).keys()].sort(),
      );
    }
  });

  it('has a server that is right behind any path', () => {
    const [server] = document.servers as { url: string }[];
    const at = (address: string) => new URL(`${server?.url}/brands`, address).href;
    expect(at('https://shop.example.com/openapi.json')).toBe('https://shop.example.com/brands');
    expect(at('https://shop.example.com/api/v1/openapi.json')).toBe(
      'https://shop.example.com/api/v1/brands',
    );
  });

  it('says the limits that are set', () => {
    const limit = document.paths['/brands'].get.parameters.find(
      ({ name }: { name: string }) => name === 'limit',
    );
    expect(limit.schema).toMatchObject({ minimum: 0, maximum: 20, default: 20 });
    expect(document.components.headers['X-RateLimit-Limit'].description).toContain('7000');
  });

  it('has an example that is taken for every parameter of which one is known', async () => {
    for (const path of RESOURCES) {
      for (const { name, in: place, schema } of document.paths[path].get.parameters.map(at)) {
        if (place !== 'query') continue;
        // An example would not be valid for ever, or be made up.
        if (name === 'facetStarts') {
          expect(schema).not.toHaveProperty('examples');
          continue;
        }
        const text = encodeURIComponent(String(schema.examples[0]));
        // It is about one field.
        const field = name === 'bounds' ? '&facets=price' : '';
        const response = await send(
          'GET',
          withQuery(example(path), `${name}=${text}${field}`),
          clients.known,
        );
        // There is no object with the identifier of the example.
        expect([name, response.status]).toEqual([name, name === 'after' ? 404 : 200]);
      }
    }
  });

  it('has the default as the example of limit, and colours of the data as those of coloursAll', () => {
    const { parameters } = document.paths['/products'].get;
    const schemas = new Map(
      parameters.map((each: { name: string; schema: object }) => [each.name, each.schema]),
    );
    expect(schemas.get('limit')).toMatchObject({ default: 20, examples: [20] });
    expect(schemas.get('coloursAll')).toMatchObject({ examples: [['red']] });
    expect(schemas.get('variant')).toMatchObject({ examples: [['Filter']] });
  });

  it('says which facets are counted unless some are named', () => {
    const { parameters } = document.paths['/facets/products'].get;
    const { description, schema } = parameters.find(
      ({ name }: { name: string }) => name === 'facets',
    );
    const [, preset = ''] = /Default: `(.*)`\./.exec(description) ?? [];
    const others = schema.items.enum.filter((name: string) => !preset.split(',').includes(name));
    const presence = ['brandIDExists', 'categoryIDExists', 'coloursExists'];
    expect(others.filter((name: string) => !presence.includes(name))).toEqual([
      'price',
      'createdAt',
      'updatedAt',
      'within',
      'q',
    ]);
    expect(others).toEqual(expect.arrayContaining(presence));
  });

  it('has examples that meet their schemas, and none where nothing is known', async () => {
    const other = await startService({ MAX_LIMIT: '20' }, SuppliersModule);
    const { body } = await other.anonymous().get('/openapi.json').expect(200);
    await other.stop();
    const examples = examplesIn(body);
    const texts = examples.map(({ example }) => JSON.stringify(example));
    expect(texts.filter((text) => ['"a"', '["a"]', '["a","b"]'].includes(text))).toEqual([]);
    const { components } = body;
    const wrong = examples.filter(
      ({ schema, example }) => !ajv.validate({ ...schema, components }, example),
    );
    expect(wrong).toEqual([]);
  });

  it.each(['brands', 'categories', 'products', 'variants'])(
    'has one of the %s of the demonstration as an example',
    async (resource) => {
      const { content } = document.paths[`/${resource}`].get.responses[200];
      const [object] = content['application/json'].example.response_data.objects;
      const { createdAt, updatedAt, ...given } = object;
      expect([createdAt, updatedAt]).toEqual([expect.any(String), expect.any(String)]);
      const [identifier = ''] = Object.keys(given);
      const found: object[] = [];
      for await (const batch of demoRows('demo', resource)) {
        for (const { columns, cells = [] } of batch) {
          const row = Object.fromEntries(columns.map((name, at) => [name, cells[at]]));
          if (row[identifier] === given[identifier]) found.push(row);
        }
      }
      const asCells = Object.entries(given).map(([name, value]) => [
        name,
        Array.isArray(value) ? JSON.stringify(value) : String(value),
      ]);
      expect(found).toEqual([expect.objectContaining(Object.fromEntries(asCells))]);
    },
  );

  it('has a schema of each object and of each page, under a name that stays', () => {
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([
        ...['Success', 'ErrorEnvelope', 'Product', 'ProductPage'],
        ...['ProductFacetCount', 'ProductFacetPage', 'Category'],
        ...['CategoryPage', 'Brand', 'BrandPage'],
      ]),
    );
    const refusals = Object.entries<{ content: Record<string, { schema: object }> }>(
      document.components.responses,
    );
    for (const [name, { content }] of refusals) {
      // One response for each status, none with a number.
      expect(name).toMatch(/^[A-Za-z]+$/);
      expect(content['application/json']?.schema).toEqual({
        $ref: '#/components/schemas/ErrorEnvelope',
      });
    }
  });

  it('has nothing that generators of clients misread', () => {
    const text = JSON.stringify(document);
    expect(text).not.toContain('"const":');
    // The default of an array, and a limit that nothing reaches.
    expect(text).not.toMatch(/"default":\[/);
    expect(text).not.toMatch(/"max(Length|Items)":\d{6}/);
    for (const [path, { get, ...others }] of Object.entries<Record<string, unknown>>(
      document.paths,
    )) {
      expect([path, others]).toEqual([path, {}]);
      const { content = {} } = (get as { responses: Record<string, RawResponse> })
        .responses[200] as {
        content?: object;
      };
      expect(Object.keys(content)).toHaveLength(1);
    }
  });

  it('names every errcode', () => {
    for (const { errcode } of Object.values(errors)) {
      expect(document.info.description).toContain(`| \`${errcode}\` |`);
    }
  });

  it('holds no token', () => {
    expect(JSON.stringify(document)).not.toMatch(/demo-token/);
    expect(JSON.stringify(document)).not.toContain(service.token);
  });

  it('is clean under Redocly and Spectral, but for what their settings except', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catalogue-openapi-'));
    const file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(document));
    const run = promisify(execFile);
    // `execFile` rejects with the output of a linter if that finds a problem.
    const redocly = ['lint', file, '--config', 'redocly.yaml', '--max-problems=100'];
    const { stdout, stderr } = await run('node_modules/.bin/redocly', redocly, {
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
    expect(stdout + stderr).not.toMatch(/\d warning/);
    const spectral = ['lint', file, '--ruleset', '.spectral.yaml', '--fail-severity=hint'];
    await run('node_modules/.bin/spectral', spectral);
    await rm(folder, { recursive: true });
  });
});

/** The status and errcode of every refusal that a test provoked. */
const provoked = new Set<string>();

describe.each(RESOURCES)('What is documented of %s', (path) => {
  const url = example(path);

  it('is what a success is', async () => {
    const response = await send('GET', url, clients.known);
    expect(response.status).toBe(200);
    expectDocumented(path, response);
  });

  it('names the streams of a list', async () => {
    const { description, responses } = document.paths[path].get;
    const isList = !path.includes('{') && !isFacets(path);
    for (const type of ['application/x-ndjson', 'text/csv']) {
      expect([path, description.includes(type)]).toEqual([path, isList]);
      if (!isList) continue;
      const head = `${clients.known}Accept: ${type}\r\nAccept-Encoding: gzip\r\n`;
      const response = await send('GET', url, head);
      expect(response.status).toBe(200);
      expect(response.headers['content-type']).toContain(type);
      const named = Object.keys(responses[200].headers).map((name) => name.toLowerCase());
      expect([...named, ...UNSAID]).toEqual(expect.arrayContaining(Object.keys(response.headers)));
    }
  });

  it('is what HEAD and 304 are', async () => {
    const ask = (method: 'get' | 'head', tag: string) => {
      const { [method]: request } = service.anonymous();
      return request(url).set(service.headers).set('If-None-Match', tag);
    };
    const head = await ask('head', '"none"');
    expectDocumented(path, { status: head.status, headers: head.headers, body: '' }, 'head');
    const { etag } = head.headers;
    for (const method of ['get', 'head'] as const) {
      const unchanged = await ask(method, String(etag)).expect(304);
      expectDocumented(path, { status: 304, headers: unchanged.headers, body: '' });
    }
  });

  it('are the statuses of all refusals', async () => {
    const statuses = new Set<number>();
    for (const fail of Object.values(FAILURES)) {
      const response = await fail('GET', url);
      if (response.status === 200) continue;
      expectDocumented(path, response);
      statuses.add(response.status);
      provoked.add(`${response.status} ${JSON.parse(response.body).result.errcode}`);
    }
    const documented = Object.keys(document.paths[path].get.responses).map(Number);
    expect([200, 304, ...statuses].sort()).toEqual(documented.sort());
  });
});

describe('What is documented of /changes', () => {
  it('are its lines, and the refusal of another form', async () => {
    const { parameters, responses } = document.paths['/changes'].get;
    expect(parameters.map(({ name = '' }) => name)).toEqual(
      expect.arrayContaining(['resources', 'since', 'fields']),
    );
    const asked = `/changes?resources=brands`;
    const lines = await service.get(asked).set('Accept', 'application/x-ndjson').expect(200);
    const [type = ''] = Object.keys(responses[200].content);
    expect(lines.headers['content-type']).toContain(type);
    const named = Object.keys(responses[200].headers).map((name) => name.toLowerCase());
    expect([...named, ...UNSAID]).toEqual(expect.arrayContaining(Object.keys(lines.headers)));
    const refused = await send('GET', asked, clients.known);
    expectDocumented('/changes', refused);
    provoked.add(`${refused.status} ${JSON.parse(refused.body).result.errcode}`);
  });
});

describe('The error responses', () => {
  it('have an example of every refusal, and of no other', () => {
    const documented = Object.entries(
      Object.assign({}, ...RESOURCES.map((path) => document.paths[path].get.responses)),
    ).flatMap(([status, response]) =>
      Object.keys(at(response).content?.['application/json'].examples ?? {}).map(
        (errcode) => `${status} ${errcode}`,
      ),
    );
    expect([...provoked].sort()).toEqual(documented.sort());
  });
});

describe.each(['/openapi.json', '/llms.txt', '/llms-full.txt', '/docs'])(
  'What is documented of %s',
  (path) => {
    it('is what it answers, without credentials and whatever the parameters', async () => {
      const response = await service.anonymous().get(`${path}?nonsense=1`).expect(200);
      const [type = ''] = (response.headers['content-type'] ?? '').split(';');
      const { content } = document.paths[path].get.responses[200];
      expect(Object.keys(content)).toEqual([type]);
      const head = await service.anonymous().head(path).expect(200);
      expectDocumented(path, { status: 200, headers: head.headers, body: '' }, 'head');
      const { etag = '' } = head.headers;
      const unchanged = await service.anonymous().get(path).set('If-None-Match', etag).expect(304);
      expectDocumented(path, { status: 304, headers: unchanged.headers, body: '' });
    });

    const ofDocument = ['-11', '-12', '-13'];
    it.each(['-4', '-20', '-34', '-34 ', ...(path === '/docs' ? [] : ofDocument)])(
      'is its refusal %s',
      async (code) => {
        const response = await FAILURES[code]?.('GET', path);
        if (!response) throw new Error(`Nothing fails with ${code}`);
        expect(JSON.parse(response.body).result.errcode).toBe(code.trim());
        expectDocumented(path, response);
      },
    );

    it('offers no other method', async () => {
      for (const method of ['POST', 'OPTIONS']) {
        const response = await send(method, path, '');
        expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD']);
      }
    });
  },
);
