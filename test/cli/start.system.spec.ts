import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from '../free-port.js';
import { createDatabase, type TestDatabase } from '../database/database.js';
import { Gate } from '../faults/gate.js';
import { rawRequest } from '../http/raw-request.js';
import { plainLines } from '../plain-lines.js';
import { refusal } from '../service.js';
import { until } from '../until.js';
import { BARE_ENVIRONMENT, catalogue } from './catalogue.js';

let dataDir: string;
/** A data directory that was made by a first start, which runs until `prepare` needs it. */
let prepared: string;
let first: Started;
const running: ChildProcess[] = [];

async function newDirectory(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-start-'));
  // If this process is root, the server runs as another user, who must reach the folder.
  await chmod(folder, 0o755);
  return folder;
}

beforeAll(async () => {
  prepared = await newDirectory();
  first = await startForSeveral({ DATA_DIR: prepared });
});
afterAll(async () => {
  first.child.kill('SIGKILL');
  await until(async () => (await processes(prepared)).length === 0);
  await rm(prepared, { recursive: true });
});

beforeEach(async () => {
  dataDir = await newDirectory();
});
afterEach(async () => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  await until(async () => (await processes()).length === 0);
  await rm(dataDir, { recursive: true });
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

/** Makes the data directory a copy of the prepared one, which takes a fraction of the time of a first start. */
async function prepare(): Promise<void> {
  if (first.child.exitCode === null) expect(await stop(first, 'SIGTERM')).toBe(0);
  // With the owner, as whom the server runs.
  await promisify(execFile)('cp', ['-a', `${prepared}/.`, dataDir]);
}

async function stop({ child }: Started, signal: NodeJS.Signals): Promise<number | null> {
  child.kill(signal);
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

/** All processes whose command line contains the data directory. */
async function processes(directory = dataDir): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,args=']);
  return stdout.split('\n').filter((line) => line.includes(directory));
}

// Before any test that stops it.
describe('A first catalogue start, with nothing but a directory', () => {
  it('loads the demonstration and prints a curl line that works when pasted', async () => {
    // The last line of the start.
    await until(() => first.output().includes('Try: '));
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

  it('searches in SEARCH_LANGUAGE in a new directory, from the first start on', async () => {
    const { address, output } = await start({ SEARCH_LANGUAGE: 'english' });
    expect(output()).not.toContain('SEARCH_LANGUAGE');
    // The demonstration is loaded in it: each finds what the other does, and no text has this form.
    const found = async (q: string) => {
      const url = `${address}/products?clientID=demo&access_token=demo-token&q=${q}&fields=productID`;
      return (await (await fetch(url)).json()) as { response_data: { count: string } };
    };
    const bags = await found('bag');
    expect(Number(bags.response_data.count)).toBeGreaterThan(0);
    expect(await found('bagging')).toEqual(bags);
    const environment = { DATA_DIR: dataDir, SEARCH_LANGUAGE: 'english' };
    expect((await catalogue(['verify'], environment)).stdout).toBe('Nothing is off\n');
  });

  it('refuses a second service on the same directory in one line, which names the first', async () => {
    const second = await start({ DATA_DIR: prepared });
    expect(second.child.exitCode).toBe(1);
    expect(second.output()).toBe(
      `catalogue: ${prepared} is in use by another catalogue service (pid ${first.child.pid}, http://127.0.0.1:0)\n`,
    );
    expect((await fetch(first.address)).status).toBe(404);
  });
});

describe('catalogue start, with nothing but a directory', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'leaves no process and no lock behind on %s, and answers what it has begun',
    async (signal) => {
      await prepare();
      const started = await start();
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
    },
  );

  it('leaves no process behind when it is killed, and starts again with its data', async () => {
    await prepare();
    const first = await start();
    await stop(first, 'SIGKILL');
    await until(async () => (await processes()).length === 0);
    const second = await start();
    const url = `${second.address}/products?clientID=demo&access_token=demo-token&limit=0`;
    expect(await (await fetch(url)).json()).toMatchObject({ response_data: { count: '3000' } });
    expect(await stop(second, 'SIGTERM')).toBe(0);
  });

  it('lets commands work on its database, and on it alone when it is not running', async () => {
    const environment = { DATA_DIR: dataDir };
    expect(await catalogue(['migrate'], environment)).toMatchObject({ status: 0 });
    expect(await catalogue(['client', 'create', 'own'], environment)).toMatchObject({ status: 0 });
    const started = await start();
    const { stdout } = await catalogue(['client', 'list'], environment);
    expect(stdout).toContain('own\t');
    expect(stdout).toContain('demo\t');
    const url = `${started.address}/products?clientID=demo&access_token=demo-token&limit=0`;
    expect((await fetch(url)).status).toBe(200);
  });

  it('does not mix the demonstration into a catalogue of somebody’s own', async () => {
    await catalogue(['migrate'], { DATA_DIR: dataDir });
    await catalogue(['import', 'brands', '-'], { DATA_DIR: dataDir }, 'brandID,name\na,A\n');
    const { address } = await start();
    const count = async (resource: string) => {
      const url = `${address}/${resource}?clientID=demo&access_token=demo-token&limit=0`;
      return ((await (await fetch(url)).json()) as { response_data: unknown }).response_data;
    };
    expect(await count('brands')).toEqual({ count: '1', objects: [] });
    expect(await count('products')).toEqual({ count: '0', objects: [] });
  });
});

describe('catalogue start on an address that others reach', () => {
  const METRICS = 'HOST is 0.0.0.0: the network can read health and metrics';
  const PUBLIC = `${METRICS}, and the catalogue with the public token of the client demo: disable it with catalogue client disable demo\n`;

  /** What a start prints before the service is used. */
  async function printed(environment: NodeJS.ProcessEnv): Promise<string> {
    const started = await start(environment);
    await until(() => /^(Try|Create a client)/m.test(started.output()));
    expect(await stop(started, 'SIGTERM')).toBe(0);
    return started.output();
  }

  it('says that the token of the demonstration is public, while it works', async () => {
    await prepare();
    expect(await printed({ HOST: '0.0.0.0' })).toContain(PUBLIC);
    expect(await printed({ HOST: 'localhost' })).not.toContain('the network');
    await catalogue(['client', 'disable', 'demo'], { DATA_DIR: dataDir });
    const disabled = await printed({ HOST: '0.0.0.0' });
    expect(disabled).toContain(`${METRICS}\n`);
    expect(disabled).not.toMatch(/^Try|demo-token/m);
    await catalogue(['client', 'enable', 'demo'], { DATA_DIR: dataDir });
    expect(await printed({ HOST: '0.0.0.0', ADMIN_PORT: '0' })).toContain(PUBLIC);
    await catalogue(['token', 'revoke', 'demo'], { DATA_DIR: dataDir });
    expect(await printed({ HOST: '0.0.0.0' })).toContain(`${METRICS}\n`);
  });
});

describe('A token', () => {
  it('is in nothing that the service writes, whatever the request', async () => {
    await prepare();
    const started = await start({ LOG_LEVEL: 'debug', HOST: '127.0.0.1' });
    const port = Number(new URL(started.address).port);
    // The last line of the start, which shows the token of the demonstration.
    await until(() => started.output().includes('Try: '));
    const printed = started.output();
    const query = 'clientID=demo&access_token=demo-token';
    for (const target of [
      `http://x:y/products?${query}`,
      `http://[::1/products?${query}`,
      `http://a/products?${query}`,
      `//products?${query}`,
      `/products?${query}&nonsense=1`,
      `/products?${query}#a`,
      `/products?${query}&limit=%`,
      `/nope?${query}`,
    ]) {
      const head = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
      const [response] = await rawRequest(port, head);
      expect(response?.body).toMatch(/^\{"result":/);
      expect(JSON.stringify(response)).not.toContain('demo-token');
    }
    await stop(started, 'SIGTERM');
    expect(started.output().slice(printed.length)).not.toContain('demo-token');
  });
});

describe('catalogue start is refused in one line', () => {
  it('for a port in use', async () => {
    await prepare();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const started = await start({ PORT: String(port) });
    server.close();
    expect(started.child.exitCode).toBe(1);
    // A project may list a table of others, which this database has not.
    const lines = started.output().split('\n');
    expect(lines.filter((line) => !/^(The database does not|Maintenance of)/.test(line))).toEqual([
      `catalogue: Port ${port} on 127.0.0.1 is in use: set PORT to another one`,
      '',
    ]);
    expect(await processes()).toEqual([]);
  });

  it('for a wrong setting', async () => {
    const started = await start({ PORT: 'http' });
    expect(started.output()).toBe('catalogue: PORT must be an integer between 0 and 65535\n');
  });

  it('for a data directory that cannot be used, with the settings for another one', async () => {
    const started = await start({ DATA_DIR: 'package.json' });
    expect(started.output()).toMatch(
      /^catalogue: The data directory \S+ cannot be used: EEXIST.* Set DATA_DIR .* DATABASE_URL .*\n$/,
    );
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

  it('is refused in one line where ADMIN_PORT is in use', async () => {
    const database = await createDatabase();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const started = await start({
      DATABASE_URL: database.url,
      HOST: '127.0.0.1',
      ADMIN_PORT: String(port),
    });
    server.close();
    expect(started.child.exitCode).toBe(1);
    expect(started.output()).toBe(
      `catalogue: Port ${port} on 127.0.0.1 is in use: set ADMIN_PORT to another one\n`,
    );
    await database.drop();
  });

  it('ends at once where the database refuses it', async () => {
    const database = await createDatabase();
    await database.drop();
    const started = await start({ DATABASE_URL: database.url });
    await until(() => Promise.resolve(started.child.exitCode !== null));
    expect(started.output()).toMatch(/^catalogue: database ".*" does not exist$/m);
    expect(started.child.exitCode).toBe(1);
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
    const client = new Client(database.url);
    await client.connect();
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
