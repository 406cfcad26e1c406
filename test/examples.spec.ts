import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ClientCache } from '../src/clients/client-cache.js';
import { type Service, startService, whileOverloaded } from './service.js';
import { withTool } from './tools.js';

const run = promisify(execFile);
const FOLDER = resolve('examples/typescript');
const isInstalled = existsSync(join(FOLDER, 'node_modules'));
const { it: withExamples } = withTool({
  name: 'examples/typescript/node_modules',
  isThere: isInstalled,
  install: 'npm --prefix examples/typescript ci',
});

let service: Service;
let environment: NodeJS.ProcessEnv;
/** A folder inside the example, so that it resolves the example's packages. */
let scratch: string | undefined;

beforeAll(async () => {
  service = await startService();
  await service.load(
    'brands',
    Array.from({ length: 45 }, (_, at) => ({ brandID: `b${at + 100}`, name: `Brand ${at}` })),
  );
  await service.load('categories', [{ categoryID: 'c1', name: 'C' }]);
  await service.load('products', [
    { productID: 'p1', type: 'PHYSICAL', name: 'A', price: '1.50', currency: 'EUR' },
    { productID: 'p2', type: 'DIGITAL' },
    { productID: 'p3', type: 'SERVICE' },
  ]);
  environment = {
    PATH: process.env.PATH,
    CATALOGUE_URL: `http://127.0.0.1:${service.port}`,
    CLIENT_ID: service.clientID,
    ACCESS_TOKEN: service.token,
  };
  if (!isInstalled) return;
  scratch = await mkdtemp(join(FOLDER, 'scratch-'));
  const { text } = await service.anonymous().get('/openapi.json').expect(200);
  await writeFile(join(scratch, 'openapi.json'), text);
});
afterAll(async () => {
  if (scratch !== undefined) await rm(scratch, { recursive: true });
  await service.stop();
});

/** Runs a program from the example's packages. */
function tool(name: string, ...args: string[]): Promise<{ stdout: string }> {
  return run(join(FOLDER, 'node_modules/.bin', name), args, { cwd: FOLDER });
}

it('The example for curl does what it says', async () => {
  const { stdout } = await run(resolve('examples/curl.sh'), { env: environment });
  expect(stdout).toContain(
    '"objects":[{"productID":"p1","name":"A"},{"productID":"p2","name":null}]',
  );
  expect(stdout).toContain('The parameter colour must not be present in this request');
  expect(stdout).toContain('{"brandID":"b139"}]}}');
  expect(stdout).toContain('categoryID,parentID,name,createdAt,updatedAt\r\nc1,,C,');
});

withExamples(
  'The typed client compiles in strict mode and runs',
  async () => {
    const folder = scratch ?? '';
    const out = join(folder, 'dist');
    // With types generated from the current OpenAPI document.
    await cp(join(FOLDER, 'src'), join(folder, 'src'), { recursive: true });
    const types = join(folder, 'src/schema.d.ts');
    await tool('openapi-typescript', join(folder, 'openapi.json'), '-o', types);
    const configuration = {
      extends: '../tsconfig.json',
      compilerOptions: { rootDir: join(folder, 'src'), outDir: out },
      include: ['src'],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(configuration));
    await tool('tsc', '-p', folder);
    const { stdout } = await run('node', [join(out, 'main.js')], { env: environment });
    expect(stdout).toBe(
      '2 products, among them\n  p1: A, 1.50 EUR\n  p2: without a name, – \n45 brands by name\n',
    );

    const { Catalogue, RefusedError } = await import(join(out, 'catalogue.js'));
    const { clientID, token, port } = service;
    const catalogue = new Catalogue({ url: `http://127.0.0.1:${port}`, clientID, token });
    expect(await catalogue.page('/brands', { colour: 'red' })).toEqual({
      ok: false,
      errcode: '-23',
      message: 'The parameter colour must not be present in this request',
    });
    const walked: unknown[] = [];
    for await (const { brandID } of catalogue.all('/brands', {}, 7)) walked.push(brandID);
    expect(walked).toEqual(Array.from({ length: 45 }, (_, at) => `b${at + 100}`));
    const refused = catalogue.all('/brands', { colour: 'red' }).next();
    await expect(refused).rejects.toBeInstanceOf(RefusedError);
  },
  60_000,
);

withExamples(
  'The typed client comes back when the service is busy',
  async () => {
    const { Catalogue } = await import(join(scratch ?? '', 'dist/catalogue.js'));
    const { clientID, token, port } = service;
    const catalogue = new Catalogue({ url: `http://127.0.0.1:${port}`, clientID, token });
    let page: Promise<unknown> | undefined;
    await whileOverloaded(service, async () => {
      page = catalogue.page('/products', { limit: 0 });
      // Long enough for the first try to get an error response.
      await sleep(300);
    });
    expect(await page).toEqual({ ok: true, count: 3, objects: [] });
    const impatient = new Catalogue({ url: `http://127.0.0.1:${port}`, clientID, token, tries: 1 });
    const refused = await whileOverloaded(service, () => impatient.page('/products'));
    expect(refused).toMatchObject({ ok: false, errcode: '-4' });
  },
  60_000,
);

withExamples(
  'The typed client comes back when the database is, and gives up after its last try',
  async () => {
    const { Catalogue } = await import(join(scratch ?? '', 'dist/catalogue.js'));
    const { clientID, token, port } = service;
    const catalogue = new Catalogue({ url: `http://127.0.0.1:${port}`, clientID, token, tries: 2 });
    const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const find = jest.spyOn(service.application.get(ClientCache), 'find');
    const gone = Object.assign(new Error('of the database'), { code: 'ECONNREFUSED' });

    find.mockRejectedValueOnce(gone);
    const began = performance.now();
    const page = await catalogue.page('/products', { limit: 0 });
    expect(page).toEqual({ ok: true, count: 3, objects: [] });
    expect(performance.now() - began).toBeGreaterThan(990);
    expect(find).toHaveBeenCalledTimes(2);

    find.mockClear().mockRejectedValue(gone);
    expect(await catalogue.page('/products')).toMatchObject({ ok: false, errcode: '-2' });
    expect(find).toHaveBeenCalledTimes(2);
    find.mockRestore();
    log.mockRestore();
  },
  60_000,
);

withExamples(
  'Another generator makes a client that compiles in strict mode and lists products',
  async () => {
    const folder = scratch ?? '';
    // The generator reads the module format from it.
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: '../tsconfig.json',
        compilerOptions: { rootDir: 'sdk', outDir: 'sdk-dist', exactOptionalPropertyTypes: false },
        include: ['sdk'],
      }),
    );
    const client = ['-c', '@hey-api/client-fetch', '--no-log-file'];
    const generator = join(FOLDER, 'node_modules/.bin/openapi-ts');
    await run(generator, ['-i', 'openapi.json', '-o', 'sdk', ...client], { cwd: folder });
    await writeFile(join(folder, 'sdk/list.ts'), LIST_PRODUCTS);
    await tool('tsc', '-p', folder);
    const { stdout } = await run('node', [join(folder, 'sdk-dist/list.js')], { env: environment });
    expect(stdout).toBe('2 p1,p2\n');
  },
  60_000,
);

const LIST_PRODUCTS = `
import { client } from './client.gen.js';
import { listProducts } from './sdk.gen.js';

const { CATALOGUE_URL, CLIENT_ID, ACCESS_TOKEN } = process.env;
client.setConfig({
  baseUrl: CATALOGUE_URL ?? '',
  headers: { 'X-Client-ID': CLIENT_ID, Authorization: \`Bearer \${ACCESS_TOKEN}\` },
});
const { data } = await listProducts({ query: { type: ['PHYSICAL', 'DIGITAL'] } });
if (data === undefined || typeof data === 'string') throw new Error('Refused');
const { count, objects } = data.response_data;
console.log(count, objects.map(({ productID }) => productID).join());
`;
