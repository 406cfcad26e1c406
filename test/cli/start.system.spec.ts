import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { PROJECT } from '../project.js';
import type { EmbeddedServer } from '../../packages/embedded-postgres/index.js';
import { embeddedDatabase } from '#server/cli/open-catalogue.js';
import { serve } from '#server/cli/serve.js';
import { Settings } from '#server/settings/settings.js';
import { freePort } from '../free-port.js';
import {
  connectedTo,
  createDatabase,
  queryOn,
  type TestDatabase,
} from '#server/testing/database.js';
import { Gate } from '../faults/gate.js';
import { rawRequest } from '../http/raw-request.js';
import { plainLines } from '../plain-lines.js';
import { refusal } from '../service.js';
import { until } from '../until.js';
import { BARE_ENVIRONMENT, type CommandResult } from './catalogue.js';
import { CommandHost } from './command-host.js';

/** The data directory of a first start. Those after it use it one after the other. */
let dataDir: string;
let first: Started;
const host = new CommandHost();
const running: ChildProcess[] = [];
const directories: string[] = [];

async function newDirectory(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-start-'));
  // If this process is root, the server runs as another user, who must reach the folder.
  await chmod(folder, 0o755);
  directories.push(folder);
  return folder;
}

beforeAll(async () => {
  dataDir = await newDirectory();
  first = await startForSeveral({ LOG_LEVEL: 'debug' });
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});
afterAll(async () => {
  await host.end();
  first.child.kill('SIGKILL');
  for (const folder of directories) {
    await until(async () => (await processes(folder)).length === 0);
    await rm(folder, { recursive: true });
  }
});

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly address: string;
}

/** Starts the service, as without a command, until it listens or ends. */
async function start(environment: NodeJS.ProcessEnv = {}): Promise<Started> {
  const child = spawn(process.execPath, ['dist/main.js'], {
    env: {
      ...BARE_ENVIRONMENT,
      DATA_DIR: dataDir,
      PORT: '0',
      // The default with a DATABASE_URL is a fixed port, which concurrent tests would share.
      ...(environment.DATABASE_URL ? { ADMIN_PORT: '0' } : {}),
      ...environment,
    },
  });
  running.push(child);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  // It creates a database first, which takes long beside other tests.
  await until(() => output.includes('listens on') || child.exitCode !== null, 60_000);
  const address = /listens on (\S+)/.exec(plainLines(output))?.[1] ?? '';
  return { child, output: () => plainLines(output), address };
}

/** A service for several tests, which ends after the last of them. */
async function startForSeveral(environment: NodeJS.ProcessEnv): Promise<Started> {
  const started = await start(environment);
  running.splice(running.indexOf(started.child), 1);
  return started;
}

async function stop({ child }: Started, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }
  return child.exitCode;
}

/** All processes whose command line contains the data directory. */
async function processes(directory = dataDir): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,args=']);
  return stdout.split('\n').filter((line) => line.includes(directory));
}

/** The result of a command that is run in the process of the host. */
const run = (args: readonly string[], environment: NodeJS.ProcessEnv): Promise<CommandResult> =>
  host.run(args, { environment: { DATA_DIR: dataDir, PORT: '0', ...environment } });

// Before the tests that stop it.
describe('A first catalogue start, with nothing but a directory', () => {
  it('loads the demonstration and prints a curl line that works when pasted', async () => {
    // The last line of the start.
    await until(() => first.output().includes('Try: '));
    expect(first.output()).toContain(` and reads the embedded database in ${dataDir}\n`);
    const line = /^Try: (curl .*)$/m.exec(first.output())?.[1] ?? '';
    const pasted = line.replace('curl ', 'curl --silent --show-error ');
    const { stdout } = await promisify(execFile)('sh', ['-c', pasted]);
    const { result, response_data: data } = JSON.parse(stdout);
    expect(result).toEqual({ status: 'OK', errcode: '0', msg: '' });
    expect(data.count).toBe('3000');
    expect(data.objects).toHaveLength(2);
  });

  it('answers the README’s example byte for byte', async () => {
    const { address } = first;
    const query = 'type=PHYSICAL&fields=productID,refID&limit=2&offset=5';
    const response = await fetch(
      `${address}/products?clientID=demo&access_token=demo-token&${query}`,
    );
    expect(await response.text()).toBe(
      '{"result":{"status":"OK","errcode":"0","msg":""},"response_data":{"count":"2779","objects":' +
        '[{"productID":"p-000006","refID":"TRV-73667-S-BUR"},{"productID":"p-000007","refID":"TRV-73667-M-BUR"}]}}',
    );
  });

  it('has a public client for the storefront, which names it', async () => {
    const page = await readFile('examples/storefront/index.html', 'utf8');
    expect(page).toContain("clientID: 'shop'");
    const ask = (path: string, accept = 'application/json') =>
      fetch(`${first.address}${path}clientID=shop`, { headers: { Accept: accept } });
    for (const path of ['/products?limit=100&', '/facets/products?facets=within&limit=100&'])
      expect((await ask(path)).status).toBe(200);
    expect((await ask('/products?', 'text/csv')).status).toBe(403);
  });

  it('refuses a second service on the same directory in one line, which names the first', async () => {
    expect(await run(['start'], {})).toMatchObject({
      status: 1,
      stderr: `catalogue: ${dataDir} is in use by another catalogue service (pid ${first.child.pid}, http://127.0.0.1:0)\n`,
    });
    expect((await fetch(first.address)).status).toBe(404);
  });

  it('ends with what it has begun, and has written no token of a request', async () => {
    // The last line of the start, which shows the token of the demonstration.
    await until(() => first.output().includes('Try: '));
    const printed = first.output();
    await expectCleanEnd(first, 'SIGTERM');
    expect(first.output().slice(printed.length)).not.toContain('demo-token');
  });
});

/** Ends a service during requests: it answers what it has begun, and leaves no process and no lock behind. */
async function expectCleanEnd(started: Started, signal: NodeJS.Signals): Promise<void> {
  const url = `${started.address}/products?clientID=demo&access_token=demo-token&limit=1000`;
  const answers = Array.from({ length: 20 }, async () => {
    // A request that arrives after the service stopped listening is rejected.
    const response = await fetch(url).catch(() => undefined);
    // Read at once: the service does not wait for ever for a client that reads nothing.
    return response && { status: response.status, body: await response.json() };
  });
  const settled = Promise.allSettled(answers);
  await Promise.race(answers);
  expect(await stop(started, signal)).toBe(0);
  expect(await processes()).toEqual([]);
  expect(await readdir(dataDir)).toEqual(['postgres']);
  for (const answer of await settled) {
    expect(answer.status).toBe('fulfilled');
    if (answer.status === 'rejected' || !answer.value) continue;
    expect([200, 503]).toContain(answer.value.status);
    expect(answer.value.body).toHaveProperty('result');
  }
}

describe('catalogue start, with nothing but a directory', () => {
  it('leaves no process behind when it is killed, and starts again with its data', async () => {
    // The first one may run, if it is not this file as a whole that runs.
    await stop(first, 'SIGTERM');
    const killed = await start();
    await stop(killed, 'SIGKILL');
    await until(async () => (await processes()).length === 0);
    const again = await start();
    const url = `${again.address}/products?clientID=demo&access_token=demo-token&limit=0`;
    expect(await (await fetch(url)).json()).toMatchObject({ response_data: { count: '3000' } });
    await expectCleanEnd(again, 'SIGINT');
  });

  it('lets commands work on its database, whose objects it does not mix with the demonstration', async () => {
    const environment = { DATA_DIR: await newDirectory() };
    expect(await run(['migrate'], environment)).toMatchObject({ status: 0 });
    expect(await run(['client', 'create', 'own'], environment)).toMatchObject({ status: 0 });
    const input = 'brandID,name\na,A\n';
    await host.run(['import', 'brands', '-'], { environment, input });
    const started = await start(environment);
    const { stdout } = await run(['client', 'list'], environment);
    expect(stdout).toContain('own\t');
    expect(stdout).toContain('demo\t');
    const data = async (resource: string): Promise<unknown> => {
      const url = `${started.address}/${resource}?clientID=demo&access_token=demo-token&limit=0`;
      const response = await fetch(url);
      expect(response.status).toBe(200);
      return ((await response.json()) as { response_data: unknown }).response_data;
    };
    expect(await data('brands')).toEqual({ count: '1', objects: [] });
    expect(await data('products')).toEqual({ count: '0', objects: [] });
  });
});

describe('catalogue start is refused in one line', () => {
  it('for a port in use', async () => {
    await stop(first, 'SIGTERM');
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const { status, stdout, stderr } = await run(['start'], { PORT: String(port) });
    server.close();
    expect(status).toBe(1);
    // A project may list an external table, which this database has not.
    const lines = plainLines(stdout + stderr).split('\n');
    expect(lines.filter((line) => !/^(The database does not|Maintenance of)/.test(line))).toEqual([
      `catalogue: Port ${port} on 127.0.0.1 is in use: set PORT to another one`,
      '',
    ]);
    expect(await processes()).toEqual([]);
  });

  it('for a data directory that cannot be used, with the settings for another one', async () => {
    const { status, stdout, stderr } = await run(['start'], { DATA_DIR: 'package.json' });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^catalogue: The data directory \S+ cannot be used: EEXIST.* Set DATA_DIR .* DATABASE_URL .*\n$/,
    );
  });
});

// In this process, since it is not the process that they are about.
describe('catalogue start on an embedded database', () => {
  let embedded: EmbeddedServer;

  beforeAll(async () => {
    await stop(first, 'SIGTERM');
    embedded = await embeddedDatabase(new Settings({ DATA_DIR: dataDir }));
  });
  afterAll(() => embedded.release());

  /** What a start prints until `work` is done with the service. */
  async function printed(
    environment: NodeJS.ProcessEnv,
    { url = embedded.url, work }: { url?: string; work?: (address: string) => Promise<void> } = {},
  ): Promise<string> {
    const lines: string[] = [];
    const print = (line: string) => void lines.push(line);
    const spies = [
      jest.spyOn(console, 'log').mockImplementation(print),
      jest.spyOn(console, 'error').mockImplementation(print),
    ];
    const output = () => plainLines(lines.map((line) => `${line}\n`).join(''));
    const stopping = new AbortController();
    const settings = new Settings({ PORT: '0', ...environment });
    try {
      const serving = serve(PROJECT, url, settings, stopping.signal, embedded);
      await Promise.race([serving, until(() => /^(Try|Create a client)/m.test(output()))]);
      await work?.(/listens on (\S+)/.exec(output())?.[1] ?? '');
      stopping.abort();
      await serving;
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    return output();
  }

  const METRICS = 'HOST is 0.0.0.0: the network can read health and metrics';
  const [DEMO, SHOP] = ['demo', 'shop'].map(
    (name) =>
      `, and the catalogue with the public token of the client ${name}: disable it with catalogue client disable ${name}`,
  );
  const PUBLIC = `${METRICS}${DEMO}${SHOP}\n`;

  it('says that the token of the demonstration is public, while it works and others reach the address', async () => {
    expect(await printed({ HOST: '0.0.0.0' })).toContain(PUBLIC);
    expect(await printed({ HOST: 'localhost' })).not.toContain('the network');
    await run(['client', 'disable', 'demo'], {});
    const disabled = await printed({ HOST: '0.0.0.0' });
    expect(disabled).toContain(`${METRICS}${SHOP}\n`);
    expect(disabled).not.toMatch(/^Try|demo-token/m);
    await run(['client', 'enable', 'demo'], {});
    expect(await printed({ HOST: '0.0.0.0', ADMIN_PORT: '0' })).toContain(PUBLIC);
    for (const name of ['demo', 'shop']) await run(['token', 'revoke', name], {});
    expect(await printed({ HOST: '0.0.0.0' })).toContain(`${METRICS}\n`);
  });

  it('searches a new database in SEARCH_LANGUAGE, from the first start on', async () => {
    await queryOn(embedded.url, 'CREATE DATABASE english');
    const url = new URL(embedded.url);
    url.pathname = '/english';
    const language = { SEARCH_LANGUAGE: 'english' };
    const work = async (address: string): Promise<void> => {
      // The demonstration is loaded in it: each finds what the other does, and no text has this form.
      const found = async (q: string) => {
        const path = `products?clientID=demo&access_token=demo-token&q=${q}&fields=productID`;
        const response = await fetch(`${address}/${path}`);
        return (await response.json()) as { response_data: { count: string } };
      };
      const bags = await found('bag');
      expect(Number(bags.response_data.count)).toBeGreaterThan(0);
      expect(await found('bagging')).toEqual(bags);
    };
    const output = await printed(language, { url: url.href, work });
    expect(output).not.toContain('SEARCH_LANGUAGE');
    const { stdout } = await run(['verify'], { ...language, DATABASE_URL: url.href });
    expect(stdout).toBe('Nothing is off\n');
  });
});

describe('catalogue start on a database of its own', () => {
  it('waits for it to come up', async () => {
    const database = await createDatabase();
    const gate = await Gate.before(database.url);
    await gate.shut();
    const [port, adminPort] = [await freePort(), await freePort()];
    const waiting = start({
      DATABASE_URL: gate.url,
      HOST: '127.0.0.1',
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
    });
    const health = `http://127.0.0.1:${adminPort}/health`;
    await until(() =>
      fetch(`${health}/live`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const ready = await fetch(`${health}/ready`);
    expect(ready.headers.get('x-content-type-options')).toBe('nosniff');
    expect(ready.headers.get('x-request-id')).toMatch(/./);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'unavailable', reason: 'database' },
    ]);
    const page = await fetch(`http://127.0.0.1:${port}/products`);
    expect([page.status, await page.json()]).toEqual([
      503,
      {
        result: { status: 'ERROR', errcode: '-2', msg: 'The service is temporarily unavailable' },
      },
    ]);
    await gate.open();
    const started = await waiting;
    await until(() => Promise.resolve(started.output().includes('listens on')));
    expect(started.output()).toMatch(/^Waiting for the database: ECONNREFUSED$/m);
    expect(await stop(started, 'SIGTERM')).toBe(0);
    await gate.shut();
    await database.drop();
  });

  it('waits for a database that is read-only, as a standby is', async () => {
    const database = await createDatabase();
    const client = new Client(database.url);
    await client.connect();
    const { pathname } = new URL(database.url);
    const setting = `DATABASE ${pathname.slice(1)} SET default_transaction_read_only`;
    await client.query(`ALTER ${setting} = on`);
    const adminPort = await freePort();
    const environment = { HOST: '127.0.0.1', ADMIN_PORT: String(adminPort) };
    const waiting = start({ DATABASE_URL: database.url, ...environment });
    const ready = `http://127.0.0.1:${adminPort}/health/ready`;
    await until(() =>
      fetch(ready).then(
        ({ status }) => status === 503,
        () => false,
      ),
    );
    await client.query(`ALTER ${setting} = off`);
    await client.end();
    const started = await waiting;
    expect(started.output()).toMatch(
      /^Waiting for the database: The database is read-only, or a standby$/m,
    );
    expect(started.output()).toContain('listens on');
    expect(await stop(started, 'SIGTERM')).toBe(0);
    await database.drop();
  });

  it('is refused in one line where ADMIN_PORT is in use', async () => {
    const database = await createDatabase();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const environment = { HOST: '127.0.0.1', ADMIN_PORT: String(port) };
    const result = await run(['start'], { DATABASE_URL: database.url, ...environment });
    server.close();
    expect(result).toEqual({
      status: 1,
      stdout: '',
      stderr: `catalogue: Port ${port} on 127.0.0.1 is in use: set ADMIN_PORT to another one\n`,
    });
    await database.drop();
  });

  it('ends at once where the database refuses it', async () => {
    const database = await createDatabase();
    await database.drop();
    const result = await run(['start'], { DATABASE_URL: database.url, ADMIN_PORT: '0' });
    expect(result).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^catalogue: database ".*" does not exist$/m),
    });
  });
});

// The last test takes its database away, and ends it.
describe('A service on a database of its own', () => {
  let database: TestDatabase;
  let started: Started;

  beforeAll(async () => {
    database = await createDatabase();
    started = await startForSeveral({ DATABASE_URL: database.url, HOST: '127.0.0.1' });
  });
  afterAll(async () => {
    started.child.kill('SIGKILL');
    await database.drop();
  });

  it('serves health and metrics at ADMIN_PORT, and not at PORT', async () => {
    const admin = /^Health and metrics are on (\S+)$/m.exec(started.output())?.[1] ?? '';
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      expect((await fetch(admin + path)).status).toBe(200);
      expect((await fetch(started.address + path)).status).toBe(404);
    }
    for (const bytes of ['nonsense\r\n\r\n', 'GET /health/live HTTP/1.1\r\n\r\n']) {
      const [response] = await rawRequest(Number(new URL(admin).port), bytes);
      expect(response?.status).toBe(400);
      expect(JSON.parse(response?.body ?? '')).toEqual(refusal(-20, 'The request is malformed'));
      expect(response?.headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
    }
  });

  it('keeps the tallies folded for as long as it runs', async () => {
    const client = await connectedTo(database.url);
    await client.query(`INSERT INTO brands ("brandID", name) VALUES ('a', 'A'), ('b', 'B')`);
    await until(async () => {
      const { rows } = await client.query<{ deltas: string; count: string }>(
        `SELECT (SELECT count(*) FROM brands_tally_deltas) AS deltas,
                (SELECT sum(count) FROM brands_tally) AS count`,
      );
      return rows[0]?.deltas === '0' && rows[0].count === '2';
    });
    await client.end();
  });

  it('says which database it reads, and not its password', () => {
    const { hostname, port, pathname, password } = new URL(database.url);
    expect(started.output()).toContain(
      ` and reads the database ${pathname.slice(1)} on ${hostname}:${port || 5432}\n`,
    );
    if (password) expect(started.output()).not.toContain(password);
  });

  it('goes on without whoever read its log', async () => {
    started.child.stdout?.destroy();
    started.child.stderr?.destroy();
    for (let at = 0; at < 3; at += 1) {
      expect((await fetch(`${started.address}/brands`)).status).toBe(401);
    }
  });

  it('has no demonstration, answers -2 while its database is away, and ends on SIGTERM', async () => {
    const address = /listens on (\S+)/.exec(started.output())?.[1] ?? '';
    const url = `${address}/products?clientID=demo&access_token=demo-token`;
    expect((await fetch(url)).status).toBe(401);
    await database.drop();
    const response = await fetch(url);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      result: { status: 'ERROR', errcode: '-2', msg: 'The service is temporarily unavailable' },
    });
    expect(await stop(started, 'SIGTERM')).toBe(0);
  });
});
