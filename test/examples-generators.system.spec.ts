import { afterAll, beforeAll, expect } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Service, startService } from './service.js';
import { withTool } from './tools.js';

const run = promisify(execFile);
const FOLDER = resolve('examples/generators');
const { it } = withTool({
  name: 'examples/generators/node_modules',
  isThere: existsSync(join(FOLDER, 'node_modules')),
  install: 'npm --prefix examples/generators ci',
});

let service: Service;
/** A folder inside the example, so that it resolves the example's packages. */
let scratch: string;

beforeAll(async () => {
  service = await startService();
  await service.load('products', [
    { productID: 'p1', type: 'PHYSICAL', name: 'A', price: '1.50', currency: 'EUR' },
    { productID: 'p2', type: 'DIGITAL' },
    { productID: 'p3', type: 'SERVICE' },
  ]);
  scratch = await mkdtemp(join(FOLDER, 'scratch-'));
  for (const name of ['src', 'orval.config.ts', 'package.json', 'tsconfig.json']) {
    await cp(join(FOLDER, name), join(scratch, name), { recursive: true });
  }
});
afterAll(async () => {
  await rm(scratch, { recursive: true });
  await service.stop();
});

it('Generated clients compile in strict mode and list products', async () => {
  const { text } = await service.anonymous().get('/openapi.json').expect(200);
  await writeFile(join(scratch, 'openapi.json'), text);
  await run('npm', ['run', 'generate'], { cwd: scratch });
  await run('npm', ['run', 'build'], { cwd: scratch });
  for (const client of ['orval', 'hey-api']) {
    const { stdout } = await run('node', [join(scratch, 'dist', `${client}.mjs`)], {
      env: {
        PATH: process.env.PATH,
        CATALOGUE_URL: `http://127.0.0.1:${service.port}`,
        CLIENT_ID: service.clientID,
        ACCESS_TOKEN: service.token,
      },
    });
    expect([client, stdout]).toEqual([client, '2 p1,p2\n']);
  }
});
